package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

// ErrConfig says which setting of the language model is wrong.
var ErrConfig = errors.New("broker: language model")

// Config are the settings of the language model, inspector.model in the
// configuration file. The zero value is no model. A model is an endpoint (URL and
// Name) or a Command.
type Config struct {
	// URL is the base of an OpenAI-compatible endpoint, such as
	// http://127.0.0.1:11434/v1; /chat/completions is put behind it. http is for
	// loopback only.
	URL string `yaml:"url"`
	// Name is the model's name as the endpoint knows it.
	Name string `yaml:"name"`
	// KeyFile is a private file with the endpoint's key, sent as a bearer token and
	// nowhere else. It is read once, at the start.
	KeyFile string `yaml:"key_file"`
	// CAFile is a PEM file of the authorities that vouch for the endpoint, in place
	// of the system's.
	CAFile string `yaml:"ca_file"`
	// Command is a program with its arguments that judges instead, by an absolute
	// path: one JSON object in, one out, without environment.
	Command []string `yaml:"command"`
	// Origins are the origins whose texts may go to a model off this machine, in
	// their normal form: https://tools.example/mcp, stdio:NAME. There is no wildcard.
	// A model on this machine is asked about all origins, or those named here.
	Origins []string `yaml:"origins"`
	// OffMachine says that a loopback URL or a command passes texts on to another
	// machine (a tunnel, a proxy, a cloud model of a local server).
	OffMachine bool `yaml:"off_machine"`
	// Reasoning is for models that think before they answer: they want
	// max_completion_tokens in place of max_tokens, and no temperature.
	Reasoning bool `yaml:"reasoning"`
	// MaxTokens bounds an answer. Default 400, or 4000 where Reasoning is set.
	MaxTokens int `yaml:"max_tokens"`
	// Timeout is how long one request may take. Default 15s, at most 2m.
	Timeout time.Duration `yaml:"timeout"`
	// Deadline is how long all requests about one item or result may take together.
	// Default 30s, at most 10m.
	Deadline time.Duration `yaml:"deadline"`
	// Parallel is how many requests run at once. Default 4, at most 64.
	Parallel int `yaml:"parallel"`
	// PerMinute is how many requests start in a minute; one origin gets two thirds
	// of them. Default 600.
	PerMinute int `yaml:"per_minute"`
	// Requests is how many requests one item or result may cost; what is longer is
	// not judged to its end, and suspect. Default 32, at most 64.
	Requests int `yaml:"requests"`
	// Window is how many bytes of text go into one request. Default 6144, at most
	// 16384.
	Window int `yaml:"window"`
}

// On tells whether there is a model.
func (c Config) On() bool { return c.URL != "" || len(c.Command) > 0 }

// Limits are the bounds of the judge that asks this model.
func (c Config) Limits() opinion.Config {
	return opinion.Config{Window: c.Window, Requests: c.Requests}
}

func (c Config) withDefaults() Config {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	if c.Timeout == 0 {
		c.Timeout = 15 * time.Second
	}
	if c.Deadline == 0 {
		c.Deadline = 30 * time.Second
	}
	def(&c.Parallel, 4)
	def(&c.PerMinute, 600)
	if c.Reasoning {
		def(&c.MaxTokens, 4000)
	}
	def(&c.MaxTokens, 400)
	c.URL = strings.TrimSuffix(c.URL, "/")
	return c
}

// Check refuses settings that contradict each other or loosen by accident. Its
// errors name the setting and repeat no value.
func (c Config) Check() error {
	bad := func(key, why string) error { return fmt.Errorf("%w: %s: %s", ErrConfig, key, why) }
	if !c.On() {
		if c.Name != "" || c.KeyFile != "" || c.CAFile != "" || len(c.Origins) > 0 {
			return bad("url", "missing, but there are other settings of a model")
		}
		return nil
	}
	c = c.withDefaults()
	if err := c.checkPlace(bad); err != nil {
		return err
	}
	for _, o := range c.Origins {
		if p, err := origin.Parse(o); err != nil || p.String() != o {
			return bad("origins", "want origins in their normal form, such as https://tools.example/mcp or stdio:NAME")
		}
	}
	if !c.local() && len(c.Origins) == 0 {
		return bad("origins", "name the origins whose texts may go to a model off this machine")
	}
	for _, b := range []struct {
		key         string
		v, min, max int64
	}{
		{"timeout", int64(c.Timeout), int64(time.Second), int64(2 * time.Minute)},
		{"deadline", int64(c.Deadline), int64(time.Second), int64(10 * time.Minute)},
		{"parallel", int64(c.Parallel), 1, 64},
		{"per_minute", int64(c.PerMinute), 1, 100_000},
		{"max_tokens", int64(c.MaxTokens), 50, 100_000},
		{"requests", int64(c.Requests), 0, opinion.MaxRequests},
		{"window", int64(c.Window), 0, opinion.MaxWindow},
	} {
		if b.v < b.min || b.v > b.max {
			return bad(b.key, "out of bounds")
		}
	}
	return nil
}

// checkPlace checks where the model is.
func (c Config) checkPlace(bad func(key, why string) error) error {
	if len(c.Command) > 0 {
		switch {
		case c.URL != "":
			return bad("command", "a model is an endpoint or a command, not both")
		case c.Name != "" || c.KeyFile != "" || c.CAFile != "":
			return bad("command", "name, key_file and ca_file belong to a url")
		case !filepath.IsAbs(c.Command[0]):
			return bad("command", "want the program's absolute path")
		}
		return nil
	}
	o, err := origin.Parse(c.URL)
	switch {
	case err != nil || o.GatewayOnly():
		return bad("url", "want https://host[:port]/path, or http: on loopback")
	case strings.HasSuffix(c.URL, "/chat/completions"):
		return bad("url", "want the base, without /chat/completions")
	case c.Name == "" || len(c.Name) > 256:
		return bad("name", "want the model's name as the endpoint knows it")
	case c.CAFile != "" && strings.HasPrefix(o.String(), "http:"):
		return bad("ca_file", "there is no certificate at an http: url")
	}
	return nil
}

// local tells whether texts stay on this machine, as far as the operator says.
func (c Config) local() bool {
	if c.OffMachine {
		return false
	}
	if len(c.Command) > 0 {
		return true
	}
	o, err := origin.Parse(c.URL)
	return err == nil && o.Loopback()
}

// engine names the model and how it is asked: what changes an answer changes it.
func (c Config) engine() string {
	b, err := json.Marshal(struct {
		URL, Name string
		Command   []string
		Reasoning bool
		MaxTokens int
		Window    int
		Version   string
	}{c.URL, c.Name, c.Command, c.Reasoning, c.MaxTokens, c.Window, opinion.Engine})
	if err != nil { // names of files and models that are not UTF-8
		b = fmt.Appendf(nil, "%q %q %q %d %d", c.URL, c.Name, c.Command, c.MaxTokens, c.Window)
	}
	sum := sha256.Sum256(append([]byte("pratique/language-model/v1\x00"), b...))
	return "asked/" + hex.EncodeToString(sum[:4])
}
