package content

import (
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// composer judges a composer.json.
func (c *check) composer(root args.Value) {
	for _, section := range []string{"require", "require-dev"} {
		each(root, section, func(name string, x args.Value) { c.composerSpec(x.Offset(), x.Offset()+len(x.Raw()), name, x.Text()) })
	}
	repositories, _ := root.Get("repositories")
	for _, r := range repositories.All() {
		c.composerRepository(r)
	}
	each(root, "scripts", func(name string, x args.Value) {
		if strings.HasPrefix(name, "pre-") || strings.HasPrefix(name, "post-") || name == "command" || name == "init" {
			c.at(Script, x, whyInstall)
		}
		x.Walk(func(v args.Value) bool {
			c.command(v.Text(), v.Offset(), v.Offset()+len(v.Raw()))
			return !c.full()
		})
	})
	config, _ := root.Get("config")
	each(config, "allow-plugins", func(name string, x args.Value) {
		if x.Kind() != 'f' {
			c.dependencyName("composer", x.Offset(), x.Offset()+len(x.Raw()), name)
		}
	})
	if v, _ := config.Get("allow-plugins"); v.Kind() == 't' {
		c.at(Script, v, whyInstall)
	}
	if v, ok := config.Get("secure-http"); ok && v.Kind() != 't' {
		c.at(Registry, v, whyUnchecked)
	}
	if v, ok := config.Get("disable-tls"); ok && v.Kind() != 'f' {
		c.at(Registry, v, whyUnchecked)
	}
}

// composerSpec judges one requirement; of the platform's own, such as php and ext-json,
// nothing is fetched.
func (c *check) composerSpec(from, to int, name, version string) {
	if !strings.Contains(name, "/") {
		return
	}
	c.dependency("composer", from, to, name, version)
}

func (c *check) composerRepository(r args.Value) {
	if r.Kind() != '{' {
		if r.Kind() != 'f' {
			c.at(Unread, r, whyUnread)
		}
		return
	}
	u, _ := r.Get("url")
	from, to := u.Offset(), u.Offset()+len(u.Raw())
	switch text(r, "type") {
	case "path":
		c.local("composer", from, to, u.Text(), u.Text())
	case "composer":
		c.registry(from, to, u.Text())
	case "package":
		c.at(Dependency, r, whyFetched)
	case "":
		if _, ok := r.Get("packagist.org"); !ok {
			c.at(Unread, r, whyUnread)
		}
	default:
		c.fetched("composer", from, to, u.Text())
	}
}

// composerPart judges one pair of a part of a composer.json.
func (c *check) composerPart(m member) {
	switch {
	case strings.HasPrefix(m.name, "post-") || strings.HasPrefix(m.name, "pre-"):
		c.add(Script, m.from, m.to, whyInstall)
		c.command(m.value, m.from, m.to)
	case m.name == "url" && isURL(m.value):
		c.registry(m.from, m.to, m.value)
	case m.section == "scripts":
		c.command(m.value, m.from, m.to)
	case m.section == "require" || m.section == "require-dev" || m.section == "" && strings.Count(m.name, "/") == 1 && !strings.Contains(m.name, " "):
		c.composerSpec(m.from, m.to, m.name, m.value)
	}
}

// composerLock judges a composer.lock: where archives come from.
func (c *check) composerLock(root args.Value) {
	for _, section := range []string{"packages", "packages-dev"} {
		list, _ := root.Get(section)
		for _, p := range list.All() {
			dist, _ := p.Get("dist")
			if u, ok := dist.Get("url"); ok && text(dist, "type") != "path" {
				c.lockURL("composer", u.Offset(), u.Offset()+len(u.Raw()), u.Text(), "")
				if text(dist, "reference") == "" && text(dist, "shasum") == "" {
					c.at(Lock, dist, whyNoIntegrity)
				}
				continue
			}
			source, _ := p.Get("source")
			if u, ok := source.Get("url"); ok {
				c.fetched("composer", u.Offset(), u.Offset()+len(u.Raw()), u.Text())
			}
		}
	}
}
