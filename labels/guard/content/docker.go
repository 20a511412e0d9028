package content

import (
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// A dockerState is what the instructions of a Dockerfile said so far.
type dockerState struct {
	stages map[string]bool
	args   map[string]string
}

// dockerfile judges images, what is fetched, and commands.
func (c *check) dockerfile() {
	d := &dockerState{stages: map[string]bool{"scratch": true}, args: map[string]string{}}
	directives := true
	joinedLines(c.text, func(s string, from, to int) {
		if strings.HasPrefix(s, "#") {
			key, value, ok := strings.Cut(strings.TrimSpace(s[1:]), "=")
			if ok && directives && strings.EqualFold(strings.TrimSpace(key), "syntax") {
				if value = strings.TrimSpace(value); value != "docker/dockerfile" && !strings.HasPrefix(value, "docker/dockerfile:") {
					c.image(value, from, to)
				}
			}
			return
		}
		directives = false
		word, rest := s, ""
		if i := strings.IndexAny(s, " \t"); i >= 0 {
			word, rest = s[:i], strings.TrimSpace(s[i:])
		}
		if strings.EqualFold(word, "ONBUILD") {
			word, rest, _ = strings.Cut(rest, " ")
		}
		c.instruction(d, strings.ToUpper(word), rest, s, from, to)
	})
}

func (c *check) instruction(d *dockerState, word, rest, whole string, from, to int) {
	switch word {
	case "FROM":
		c.fromImage(d, rest, from, to)
	case "ARG":
		name, value, ok := strings.Cut(rest, "=")
		if ok {
			d.args[strings.TrimSpace(name)] = strings.Trim(value, `"' `)
		}
	case "COPY", "ADD":
		for f := range strings.FieldsSeq(rest) {
			if image, ok := strings.CutPrefix(f, "--from="); ok && !d.stages[strings.ToLower(image)] && strings.Trim(image, "0123456789") != "" {
				c.image(d.resolve(image), from, to)
			}
			if strings.HasPrefix(f, "http://") || word == "ADD" && isURL(strings.Trim(f, `[]",`)) && !strings.Contains(rest, "--checksum=") {
				c.registry(from, to, strings.Trim(f, `[]",`))
			}
		}
	case "RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK", "SHELL":
		c.run(rest, from, to)
	case "ENV", "LABEL", "EXPOSE", "WORKDIR", "USER", "VOLUME", "STOPSIGNAL", "MAINTAINER", "":
	default: // a line of a document
		c.command(whole, from, to)
	}
}

// resolve fills in ARG values that stand before the first FROM, as far as the name of an
// image needs them.
func (d *dockerState) resolve(image string) string {
	for range 4 {
		i := strings.IndexByte(image, '$')
		if i < 0 {
			break
		}
		name := strings.TrimPrefix(image[i+1:], "{")
		n := 0
		for n < len(name) && nameByte(name[n]) {
			n++
		}
		rest := name[n:]
		value, ok := d.args[name[:n]]
		if alt, is := strings.CutPrefix(rest, ":-"); is {
			before, _, _ := strings.Cut(alt, "}")
			if !ok {
				value, ok = before, true
			}
			rest = "}" + alt[min(len(alt), len(before)+1):]
		}
		if !ok {
			break
		}
		image = image[:i] + value + strings.TrimPrefix(rest, "}")
	}
	return image
}

func (c *check) fromImage(d *dockerState, rest string, from, to int) {
	f := strings.Fields(rest)
	for len(f) > 0 && strings.HasPrefix(f[0], "--") {
		f = f[1:]
	}
	if len(f) == 0 {
		c.add(Unread, from, to, whyUnread)
		return
	}
	if !d.stages[strings.ToLower(f[0])] {
		c.image(d.resolve(f[0]), from, to)
	}
	if len(f) > 2 && strings.EqualFold(f[1], "as") {
		d.stages[strings.ToLower(f[2])] = true
	}
}

// run judges the command of an instruction: shell text, or an array of words in JSON.
func (c *check) run(rest string, from, to int) {
	for strings.HasPrefix(rest, "--") {
		_, rest, _ = strings.Cut(rest, " ")
		rest = strings.TrimSpace(rest)
	}
	if strings.HasPrefix(rest, "[") {
		if t, err := args.Parse([]byte(`{"a":` + rest + `}`)); err == nil {
			list, _ := t.Root().Get("a")
			for _, x := range list.All() {
				c.command(x.Text(), from, to)
			}
			t.Release()
			return
		}
	}
	if i := strings.Index(rest, "<<"); i >= 0 {
		rest = rest[:i]
	}
	c.command(rest, from, to)
}

// image judges the name of an image, with a tag or a digest.
func (c *check) image(ref string, from, to int) {
	if c.j.off[Dependency] {
		return
	}
	name, version := ref, ""
	if i := strings.IndexByte(ref, '@'); i >= 0 {
		name, version = ref[:i], ref[i+1:]
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		tag := name[i+1:]
		name = name[:i]
		if version != "" {
			version = tag + "@" + version
		} else {
			version = tag
		}
	}
	name = c.serverImage(name)
	if name == "" {
		return
	}
	tag, _, _ := strings.Cut(version, "@")
	switch l := c.j.lists["image"]; {
	case strings.ContainsAny(name, "$`{ "):
		c.add(Dependency, from, to, whyImage)
	case l.allows(name, version), tag != "" && l.allows(name, tag): // a digest beside a tag only says more
	case l.allowsAny(name):
		c.add(Dependency, from, to, whyVersion)
	default:
		c.add(Dependency, from, to, whyImage)
	}
}

// serverImage takes off what stands for the server's proxy of Docker Hub; an image of
// the project itself is empty.
func (c *check) serverImage(name string) string {
	plain := strings.NewReplacer("${", "$", "}", "").Replace(name)
	changed := func(v string) bool { return c.sh != nil && c.sh.server[v] }
	const own = "CI_REGISTRY_IMAGE"
	if rest, ok := strings.CutPrefix(plain, "$"+own); ok && (rest == "" || rest[0] == '/') && !strings.Contains(rest, "..") && !changed(own) {
		return ""
	}
	for _, proxy := range []string{"CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX", "CI_DEPENDENCY_PROXY_DIRECT_GROUP_IMAGE_PREFIX"} {
		if rest, ok := strings.CutPrefix(plain, "$"+proxy+"/"); ok && !changed(proxy) {
			return rest
		}
	}
	return name
}
