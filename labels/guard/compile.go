package guard

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/pratique-dev/pratique/labels/guard/content"
	"github.com/pratique-dev/pratique/labels/guard/host"
	"github.com/pratique-dev/pratique/labels/guard/path"
	"github.com/pratique-dev/pratique/labels/guard/ref"
)

// Bounds of a configuration.
const (
	maxKeys     = 1024 // tools with names of their own, and names of one
	maxPatterns = 256  // of refs, folders, hosts or recipients in one place
)

// Protected are the refs that are protected where a file names none.
func Protected() []string { return []string{"main", "master", "trunk", "production", "release/*"} }

// A Set is guards that were compiled once. It is immutable and may be shared. The
// zero value, and nil, refuse every call.
type Set struct {
	made     bool
	paths    *path.Rule
	plain    *path.Rule // paths without its folders
	rooted   bool       // paths have folders to lie in
	climbing *path.Rule // of URIs
	refs     *ref.Rule
	open     bool // what lies in a repository's own folder may be written
	hosts    *host.Rule
	listed   bool // hosts are those that a file allows
	content  *content.Judge
	keys     map[string]*toolKeys
	args     []constraint
	mail     []*word // of args, about those who are written to
}

// defaultSet is the one Set of files that say nothing of guards.
var defaultSet = sync.OnceValues(func() (*Set, error) { return compile(&Config{}) })

var profileSet = sync.OnceValue(func() *Set { return profile(runtime.GOOS) })

// profile is Profile on a machine of the given system.
func profile(goos string) *Set {
	s, err := compile(&Config{Off: Words{"refs", "hosts", "secrets"}, Paths: &PathConfig{Windows: goos == "windows"}})
	if err != nil {
		return &Set{} // refuses
	}
	return s
}

// Profile is the guards of a profile without a rule file: hygiene of paths, which are
// those of the machine that this runs on.
func Profile() *Set { return profileSet() }

// Compile makes the guards of a rule file. nil is the same as the zero Config: the
// defaults, which are one Set, so that layers without a word on guards need one Check.
// The error is an ErrConfig.
func Compile(c *Config) (*Set, error) {
	if c == nil || len(c.Off) == 0 && c.Paths == nil && c.Refs == nil && c.Hosts == nil && c.Content == nil {
		return defaultSet()
	}
	return compile(c)
}

func compile(c *Config) (*Set, error) {
	off := map[Word]bool{}
	for _, w := range c.Off {
		if w != "paths" && w != "refs" && w != "hosts" && w != "secrets" || off[w] {
			return nil, fmt.Errorf("%w.off: some of paths, refs, hosts, secrets, once each", ErrConfig)
		}
		off[w] = true
	}
	if off["paths"] && c.Paths != nil || off["refs"] && c.Refs != nil || off["hosts"] && c.Hosts != nil {
		return nil, fmt.Errorf("%w.off: what is switched off is set too", ErrConfig)
	}
	s := &Set{made: true, keys: map[string]*toolKeys{}}
	for _, part := range []struct {
		word Word
		make func(*Config) error
	}{{"paths", s.setPaths}, {"refs", s.setRefs}, {"hosts", s.setHosts}} {
		if off[part.word] {
			continue
		}
		if err := part.make(c); err != nil {
			return nil, err
		}
	}
	return s, s.setContent(c, off["secrets"])
}

func (s *Set) setPaths(c *Config) (err error) {
	p := c.Paths
	if p == nil {
		p = &PathConfig{}
	}
	if p.Within != nil && (len(p.Within) == 0 || len(p.Within) > maxPatterns) {
		return fmt.Errorf("%w.paths.within: 1 to %d folders", ErrConfig, maxPatterns)
	}
	s.rooted = p.Within != nil
	if s.climbing, err = path.New(path.Options{Climbing: true}); err != nil {
		return fmt.Errorf("%w.paths: %w", ErrConfig, err)
	}
	if s.paths, err = path.New(path.Options{Within: texts(p.Within), Fold: p.Fold, Windows: p.Windows}); err != nil {
		return fmt.Errorf("%w.paths.within: %w", ErrConfig, err)
	}
	if s.plain, err = path.New(path.Options{Fold: p.Fold, Windows: p.Windows}); err != nil {
		return fmt.Errorf("%w.paths: %w", ErrConfig, err)
	}
	return s.setKeys("paths", p.Keys, pathKeys)
}

func (s *Set) setRefs(c *Config) (err error) {
	r := c.Refs
	if r == nil {
		r = &RefConfig{}
	}
	patterns := Protected()
	if r.Protected != nil {
		if patterns = texts(r.Protected); len(patterns) == 0 || len(patterns) > maxPatterns {
			return fmt.Errorf("%w.refs.protected: 1 to %d patterns; off: [refs] protects none", ErrConfig, maxPatterns)
		}
	}
	switch r.Folder {
	case "", "never":
	case "off":
		s.open = true
	default:
		return fmt.Errorf("%w.refs.folder: never or off", ErrConfig)
	}
	if s.refs, err = ref.Protect(patterns); err != nil {
		return fmt.Errorf("%w.refs.protected: %w", ErrConfig, err)
	}
	if !s.open {
		s.refs = s.refs.Closed()
	}
	return s.setKeys("refs", r.Keys, refKeys)
}

func (s *Set) setHosts(c *Config) (err error) {
	h := c.Hosts
	if h == nil {
		h = &HostConfig{}
	}
	if h.Allow != nil && (len(h.Allow) == 0 || len(h.Allow) > maxPatterns) || len(h.Schemes) > maxPatterns {
		return fmt.Errorf("%w.hosts.allow: 1 to %d hosts", ErrConfig, maxPatterns)
	}
	s.listed = h.Allow != nil
	if s.hosts, err = host.New(host.Options{Allow: texts(h.Allow), Schemes: texts(h.Schemes), Private: h.Private}); err != nil {
		return fmt.Errorf("%w.hosts: %w", ErrConfig, err)
	}
	return s.setKeys("hosts", h.Keys, hostKeys)
}

func (s *Set) setContent(c *Config, off bool) (err error) {
	cfg := c.Content
	switch {
	case cfg == nil && off:
		return nil
	case cfg == nil:
		cfg = content.Default()
	case off:
		without := *cfg
		without.Secrets = "off"
		cfg = &without
	}
	if s.content, err = content.New(cfg); err != nil {
		return fmt.Errorf("%w.%w", ErrConfig, err)
	}
	return nil
}

func texts(words []Word) []string {
	if words == nil {
		return nil
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}
