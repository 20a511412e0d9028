package node

import (
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/decisions"
)

// UpstreamConf is one MCP server behind the gateway. It has either a command or
// a url.
type UpstreamConf struct {
	// Name is the operator's word for it, 1 to 64 of [A-Za-z0-9_.-]. Its baseline
	// belongs to the name, so that another command under the same name is a change.
	Name string `yaml:"name"`
	// Command is the program of a stdio server with its arguments, as a list or as
	// one line in which quotes hold words together.
	Command Words `yaml:"command"`
	// Args are further arguments.
	Args []string `yaml:"args"`
	// URL is the streamable HTTP endpoint of a server: https, or http on this
	// machine.
	URL string `yaml:"url"`
	// Env is what a stdio server gets beside PATH, HOME and their like: a map of
	// values, or a list of NAME=value and of NAME, which hands ours on.
	Env Environment `yaml:"env"`
	// Dir is the folder in which the command runs. Default: ours.
	Dir string `yaml:"dir"`
	// HeadersFile is a private file with "Name: value" lines that each request to
	// the url carries. It is read once, at the start. A relative path starts at this
	// file's folder.
	HeadersFile string `yaml:"headers_file"`
	// Policy is a file of rules for this server alone: a layer beside the policy of
	// all, of which neither loosens the other. A relative path starts at this file's
	// folder.
	Policy string `yaml:"policy"`
}

// GatewayConf are the settings of the way from agents to upstreams.
type GatewayConf struct {
	// Freshness is how old the upstream's last complete list may be when a call
	// goes out; older, and it is listed again first. 0s lists before each call.
	// Default 2s.
	Freshness string `yaml:"freshness"`
	// Wait is how long a call waits for a surface that is being read for the first
	// time. Default 10s.
	Wait time.Duration `yaml:"wait"`
	// Retention is how long arguments and results are kept, encrypted, for replay.
	// Default 720h.
	Retention time.Duration `yaml:"retention"`
	// Grace is how long the upstream may be away until what it returned is judged
	// again, and withdrawn from the contexts of agents where it is not found clear.
	// Default 30s.
	Grace time.Duration `yaml:"grace"`
	// RecordMiB is how many MiB the decision log may take in the data folder: beyond
	// them no call is let through, by any process of the folder. One agent may write
	// a quarter of what is left of them on one day. Default 16384.
	RecordMiB int `yaml:"record_mib"`
	// Anonymous lets callers in that show no credential, as one agent under
	// Profile, without intents or grants. Only where External is loopback.
	Anonymous bool `yaml:"anonymous"`
	// Consistent says when a tool's conduct makes its label better: after so many
	// calls of this version within what it declares.
	Consistent ConsistentConf `yaml:"consistent"`
}

// ConsistentConf says when calls that stayed within what a tool declares make it
// consistent. Each can be stricter than its default, and none looser.
type ConsistentConf struct {
	// Calls is how many must count. Default 50, and not less.
	Calls uint64 `yaml:"calls"`
	// Runs is in how many runs they must have been. Default 3, and not less.
	Runs int `yaml:"runs"`
	// Span is the time from the first to the last. Default 168h, and not less.
	Span time.Duration `yaml:"span"`
	// Expiry is how long after the last the tool stays so. Default 720h, and not
	// more.
	Expiry time.Duration `yaml:"expiry"`
}

// Bounds of RecordMiB: two spools, and a petabyte.
const (
	minRecordMiB = 2 * decisions.DefaultRoll >> 20
	maxRecordMiB = 1 << 30
)

// Words is a command line: a list, or one text.
type Words []string

// UnmarshalYAML reads either form.
func (w *Words) UnmarshalYAML(decode func(any) error) error {
	var list []string
	if decode(&list) == nil {
		*w = list
		return nil
	}
	var line string
	if err := decode(&line); err != nil {
		return errors.New("want a list of words, or one line")
	}
	words, err := splitWords(line)
	*w = words
	return err
}

// splitWords takes a line apart at blanks; quotes hold words together, and a
// backslash stands for the character after it outside of single quotes. No
// variable and no pattern is expanded: no shell reads it.
func splitWords(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	quote, escaped, in := rune(0), false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case unicode.IsSpace(r):
			if in {
				out = append(out, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote in the command line has no end")
	}
	if in {
		out = append(out, word.String())
	}
	return out, nil
}

// Environment are variables as NAME=value, or NAME for ours.
type Environment []string

// UnmarshalYAML reads a map or a list.
func (e *Environment) UnmarshalYAML(decode func(any) error) error {
	var list []string
	if decode(&list) == nil {
		*e = list
		return nil
	}
	var m map[string]string
	if err := decode(&m); err != nil {
		return errors.New("want a map of values, or a list of NAME=value and NAME")
	}
	for n, v := range m {
		*e = append(*e, n+"="+v)
	}
	return nil
}

// Argv is the whole command line.
func (u UpstreamConf) Argv() []string {
	return append(append([]string{}, u.Command...), u.Args...)
}

// ProfileOr is the profile of anonymous agents and of the credential that up
// prints: what is set, or personal where the registry is local and strict
// elsewhere.
func (c Config) ProfileOr(external string) policy.Profile {
	switch {
	case c.Profile != "":
		return policy.Profile(c.Profile)
	case local(external):
		return policy.Personal
	}
	return policy.Strict
}

// local tells whether an external URL names this machine only. No address of a
// listener or a peer says so: behind a proxy both are local (RULES.md 14).
func local(external string) bool {
	o, err := origin.Parse(external)
	return err == nil && o.Loopback()
}

// checkGateway refuses what is wrong with profile and upstreams.
func (c Config) checkGateway(bad func(key, format string, args ...any) error) error {
	beyond := c.External != "" && !local(c.External) || c.External == "" && !loopbackHost(c.Listen)
	if c.Profile != "" {
		p, err := policy.ParseProfile(c.Profile)
		if err != nil {
			return bad("profile", "%v", err)
		}
		if p == policy.Watch && beyond {
			return bad("profile", "watch enforces nothing, and is only for a registry that is reached on this machine alone")
		}
	}
	if c.Gateway.Anonymous && beyond {
		return bad("gateway.anonymous", "only for a registry that is reached on this machine alone")
	}
	if f := c.Gateway.Freshness; f != "" {
		if d, err := time.ParseDuration(f); err != nil || d < 0 || d > time.Minute {
			return bad("gateway.freshness", "want a time from 0s to 1m")
		}
	}
	if m := c.Gateway.RecordMiB; m != 0 && (m < minRecordMiB || m > maxRecordMiB) {
		return bad("gateway.record_mib", "want %d to %d", minRecordMiB, maxRecordMiB)
	}
	if _, err := c.Gateway.Consistent.thresholds().Check(); err != nil {
		return bad("gateway.consistent", "%v", err)
	}
	if c.Gateway.Wait < 0 || c.Gateway.Retention < 0 || c.Gateway.Grace < 0 {
		return bad("gateway", "times are not negative")
	}
	if len(c.Upstreams) > 1 {
		return bad("upstreams", "one at a time; run another process for another")
	}
	for _, u := range c.Upstreams {
		if err := u.check(bad); err != nil {
			return err
		}
	}
	return nil
}

func (u UpstreamConf) check(bad func(key, format string, args ...any) error) error {
	word := func(r rune) bool {
		return r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-", r))
	}
	switch {
	case u.Name == "" || len(u.Name) > 64 || strings.TrimFunc(u.Name, word) != "" || strings.ContainsFunc(u.Name, func(r rune) bool { return !word(r) }):
		return bad("upstreams.name", "want 1 to 64 of [A-Za-z0-9_.-]")
	case (len(u.Command) > 0) == (u.URL != ""):
		return bad("upstreams", "%s has either a command or a url", u.Name)
	case u.URL != "" && (len(u.Args) > 0 || len(u.Env) > 0 || u.Dir != ""):
		return bad("upstreams", "%s has a url; args, env and dir are for a command", u.Name)
	case u.URL == "" && u.HeadersFile != "":
		return bad("upstreams", "%s has a command; headers_file is for a url", u.Name)
	case len(u.Command) > 0 && u.Command[0] == "":
		return bad("upstreams", "the command of %s is empty", u.Name)
	}
	if u.URL != "" {
		p, err := url.Parse(u.URL)
		if err != nil || p.Scheme != "https" && p.Scheme != "http" || p.Host == "" {
			return bad("upstreams.url", "want https, or http on this machine")
		}
	}
	for _, e := range u.Env {
		if n, _, _ := strings.Cut(e, "="); n == "" || strings.ContainsRune(e, 0) {
			return bad("upstreams.env", "want NAME=value or NAME")
		}
	}
	return nil
}

// FreshnessOr is the freshness bound as the gateway takes it: zero for its
// default, negative to list before each call.
func (g GatewayConf) FreshnessOr() time.Duration {
	d, err := time.ParseDuration(g.Freshness)
	switch {
	case g.Freshness == "" || err != nil:
		return 0
	case d == 0:
		return -1
	}
	return d
}
