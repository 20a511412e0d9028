package broker

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestConfig(t *testing.T) {
	local := Config{URL: "http://127.0.0.1:11434/v1", Name: "m"}
	with := func(c Config, f func(*Config)) Config { f(&c); return c }
	for name, tt := range map[string]struct {
		cfg Config
		bad string // the setting that is named
	}{
		"none":             {Config{}, ""},
		"local":            {local, ""},
		"slash":            {Config{URL: "http://127.0.0.1:11434/v1/", Name: "m"}, ""},
		"command":          {Config{Command: []string{"/usr/bin/judge", "-x"}}, ""},
		"hosted":           {Config{URL: "https://models.example/v1", Name: "m", Origins: []string{home}}, ""},
		"hosted, no name":  {Config{URL: "https://models.example/v1", Origins: []string{home}}, "name"},
		"hosted, for all":  {Config{URL: "https://models.example/v1", Name: "m"}, "origins"},
		"wildcard":         {Config{URL: "https://models.example/v1", Name: "m", Origins: []string{"*"}}, "origins"},
		"not normal":       {Config{URL: "https://models.example/v1", Name: "m", Origins: []string{"HTTPS://tools.example/"}}, "origins"},
		"tunnel":           {with(local, func(c *Config) { c.OffMachine = true }), "origins"},
		"plain, far":       {Config{URL: "http://models.example/v1", Name: "m", Origins: []string{home}}, "url"},
		"plain, near":      {Config{URL: "http://10.0.0.1/v1", Name: "m", Origins: []string{home}}, "url"},
		"password in it":   {Config{URL: "https://u:p@models.example/v1", Name: "m", Origins: []string{home}}, "url"},
		"query":            {Config{URL: "https://models.example/v1?api-version=1", Name: "m", Origins: []string{home}}, "url"},
		"whole path":       {Config{URL: "http://127.0.0.1:1/v1/chat/completions", Name: "m"}, "url"},
		"stdio":            {Config{URL: "stdio:x", Name: "m"}, "url"},
		"both":             {with(local, func(c *Config) { c.Command = []string{"/bin/x"} }), "command"},
		"command, key":     {Config{Command: []string{"/bin/x"}, KeyFile: "/k"}, "command"},
		"command by name":  {Config{Command: []string{"judge"}}, "command"},
		"command off":      {Config{Command: []string{"/bin/x"}, OffMachine: true}, "origins"},
		"name without url": {Config{Name: "m"}, "url"},
		"key without url":  {Config{KeyFile: "/k"}, "url"},
		"ca without TLS":   {with(local, func(c *Config) { c.CAFile = "/ca" }), "ca_file"},
		"timeout":          {with(local, func(c *Config) { c.Timeout = time.Hour }), "timeout"},
		"negative timeout": {with(local, func(c *Config) { c.Timeout = -1 }), "timeout"},
		"deadline":         {with(local, func(c *Config) { c.Deadline = time.Hour }), "deadline"},
		"parallel":         {with(local, func(c *Config) { c.Parallel = -1 }), "parallel"},
		"per minute":       {with(local, func(c *Config) { c.PerMinute = -1 }), "per_minute"},
		"tokens":           {with(local, func(c *Config) { c.MaxTokens = 10 }), "max_tokens"},
		"requests":         {with(local, func(c *Config) { c.Requests = 65 }), "requests"},
		"window":           {with(local, func(c *Config) { c.Window = -1 }), "window"},
	} {
		err := tt.cfg.Check()
		if tt.bad == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), " "+tt.bad+": ") {
			t.Errorf("%s: %v, want %s", name, err, tt.bad)
		}
		if _, err := New(tt.cfg, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: made all the same: %v", name, err)
		}
	}
	if _, err := New(Config{}, nil); !errors.Is(err, ErrConfig) {
		t.Errorf("a broker without a model: %v", err)
	}
}

// TestEngineNamesWhatIsAsked: what changes answers changes the key of the cache.
func TestEngineNamesWhatIsAsked(t *testing.T) {
	base := Config{URL: "http://127.0.0.1:11434/v1", Name: "m"}
	seen := map[string]bool{}
	for _, f := range []func(*Config){
		func(*Config) {}, func(c *Config) { c.Name = "n" }, func(c *Config) { c.URL = "http://127.0.0.1:1/v1" },
		func(c *Config) { c.Reasoning = true }, func(c *Config) { c.MaxTokens = 100 }, func(c *Config) { c.Window = 1000 },
		func(c *Config) { c.URL, c.Name, c.Command = "", "", []string{"/bin/x"} },
		func(c *Config) { c.URL, c.Name, c.Command = "", "", []string{"/bin/x", "-y"} },
	} {
		c := base
		f(&c)
		b, err := New(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e := b.Engine(); seen[e] || !strings.HasPrefix(e, "asked/") || len(e) != 14 {
			t.Errorf("%+v: %s", c, e)
		}
		seen[b.Engine()] = true
	}
	base.Origins, base.Timeout = []string{home}, 5*time.Second
	if b, err := New(base, nil); err != nil || !seen[b.Engine()] {
		t.Error("what changes no answer changes the engine")
	}
}
