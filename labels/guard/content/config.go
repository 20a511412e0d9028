package content

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ecosystems that lists are kept for, and what their entries name.
var ecosystems = map[string]string{
	"npm":      "packages of npm, with their scope",
	"pypi":     "packages of PyPI; case, dot, dash and underscore do not matter",
	"go":       "Go modules",
	"cargo":    "crates; dash and underscore do not matter",
	"gem":      "Ruby gems",
	"composer": "vendor/package",
	"maven":    "group:artifact, plugins, parents and extensions included",
	"image":    "container images as Docker completes them: node is docker.io/library/node",
	"action":   "owner/repository of GitHub actions and reusable workflows",
	"include":  "projects and components that GitLab CI includes",
}

// Ecosystems are the names that Config.Dependencies may have, sorted.
func Ecosystems() []string { return slices.Sorted(maps.Keys(ecosystems)) }

var classNames = []string{Dependency, Registry, Script, Lock, CI, Secret, Executable, Settings, Unread}

// publicRegistries are the hosts that package managers fetch from by default.
var publicRegistries = []string{
	"registry.npmjs.org", "registry.yarnpkg.com",
	"pypi.org", "files.pythonhosted.org",
	"proxy.golang.org", "sum.golang.org",
	"index.crates.io", "static.crates.io", "crates.io",
	"rubygems.org", "index.rubygems.org",
	"repo.packagist.org", "packagist.org",
	"repo.maven.apache.org", "repo1.maven.org", "maven.google.com", "dl.google.com", "plugins.gradle.org", "services.gradle.org",
	"docker.io", "registry-1.docker.io",
}

// New compiles a configuration; nil is the zero Config, the strictest. The error is an
// ErrConfig.
func New(cfg *Config) (*Judge, error) {
	if cfg == nil {
		cfg = &Config{}
	}
	j := &Judge{off: map[string]bool{}, lists: map[string]*list{}}
	for _, w := range []struct {
		key, word string
		strict    string
		class     []string
	}{
		{"secrets", cfg.Secrets, "never", []string{Secret}},
		{"manifests", cfg.Manifests, "judged", []string{Dependency, Registry, Lock}},
		{"scripts", cfg.Scripts, "never", []string{Script}},
		{"executable", cfg.Executable, "never", []string{Executable}},
		{"settings", cfg.Settings, "never", []string{Settings}},
		{"unread", cfg.Unread, "never", []string{Unread}},
		{"ci", cfg.CI, "never", []string{CI}},
	} {
		switch {
		case w.word == "off":
			for _, c := range w.class {
				j.off[c] = true
			}
		case w.key == "ci" && w.word == "judged", w.word == w.strict, w.word == "":
		default:
			return nil, fmt.Errorf("%w.%s: not one of its words", ErrConfig, w.key)
		}
	}
	if err := j.setLike(cfg.Like); err != nil {
		return nil, err
	}
	j.secretsOnly = len(j.off) == len(classNames)-1 && !j.off[Secret]
	j.always = j.secretsOnly && slices.ContainsFunc(j.like, func(l likeness) bool { return l.kind == dotenv })
	j.ciNever = cfg.CI == "" || cfg.CI == "never"
	for eco, entries := range cfg.Dependencies {
		if ecosystems[eco] == "" {
			return nil, fmt.Errorf("%w.dependencies: a name is not one of %s", ErrConfig, strings.Join(Ecosystems(), ", "))
		}
		l, err := newList(eco, entries)
		if err != nil {
			return nil, fmt.Errorf("%w.dependencies.%s: %w", ErrConfig, eco, err)
		}
		j.lists[eco] = l
	}
	return j, j.setHosts(cfg)
}

// setLike reads which further files are read as well-known ones.
func (j *Judge) setLike(like map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(like)) {
		k := kindOf(fold(name))
		if k == plain {
			return fmt.Errorf("%w.like: a name is none of a file that is judged", ErrConfig)
		}
		for _, p := range like[name] {
			folded := fold(p)
			if folded == "" {
				return fmt.Errorf("%w.like: an entry is no path", ErrConfig)
			}
			if strings.HasSuffix(p, "/") {
				folded += "/"
			}
			j.like = append(j.like, likeness{folded, k})
		}
	}
	return nil
}

// A likeness is a file, or with a slash at its end a folder, whose files are of a kind.
type likeness struct {
	path string
	kind kind
}

// kindOf tells what reads a file by its folded path, as this configuration knows it.
func (j *Judge) kindOf(p string) kind {
	if k := kindOf(p); k != plain || len(j.like) == 0 {
		return k
	}
	for _, l := range j.like {
		if p == l.path || strings.HasSuffix(p, "/"+l.path) || strings.HasSuffix(l.path, "/") && (strings.HasPrefix(p, l.path) || strings.Contains(p, "/"+l.path)) {
			return l.kind
		}
	}
	return plain
}

func (j *Judge) setHosts(cfg *Config) error {
	registries := publicRegistries
	if cfg.Registries != nil {
		registries = nil
		for _, h := range cfg.Registries {
			if h == "public" {
				registries = append(registries, publicRegistries...)
				continue
			}
			registries = append(registries, h)
		}
	}
	var ok bool
	if j.registries, ok = hostSet(registries); !ok {
		return fmt.Errorf("%w.registries: not a list of hosts", ErrConfig)
	}
	if j.hosts, ok = hostSet(cfg.Hosts); !ok {
		return fmt.Errorf("%w.hosts: not a list of hosts", ErrConfig)
	}
	return nil
}

func hostSet(names []string) (map[string]bool, bool) {
	m := map[string]bool{}
	for _, n := range names {
		h, ok := plainHost(n)
		if !ok {
			return nil, false
		}
		m[h] = true
	}
	return m, true
}

// plainHost is a host name in small letters without the dot at its end; false where
// something else stands there.
func plainHost(s string) (string, bool) {
	s = strings.TrimSuffix(strings.ToLower(s), ".")
	if s == "" || len(s) > 253 {
		return "", false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return "", false
		}
	}
	return s, true
}
