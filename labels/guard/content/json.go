package content

import (
	"github.com/pratique-dev/pratique/labels/args"
)

// readJSON judges a manifest or lock file in JSON. Two members of one name, comments
// and the like are not read: readers differ about them.
func (c *check) readJSON() {
	if c.j.off[Dependency] && c.j.off[Script] && c.j.off[Settings] && c.j.off[CI] {
		return
	}
	t, err := args.Parse([]byte(c.text))
	if err != nil {
		if !c.w.Part {
			c.all(Unread, whyUnread)
			return
		}
		c.jsonPart()
		return
	}
	defer t.Release()
	root := t.Root()
	if c.w.Part && !hasAny(root, "dependencies", "devDependencies", "scripts", "name", "require", "lockfileVersion", "packages") {
		c.jsonPart()
		return
	}
	switch c.kind {
	case npmManifest:
		c.npm(root)
	case npmLock:
		c.npmLock(root)
	case composerManifest:
		c.composer(root)
	case composerLock:
		c.composerLock(root)
	case pipfileLock:
		c.pipfileLock(root)
	}
}

func hasAny(v args.Value, names ...string) bool {
	for _, n := range names {
		if _, ok := v.Get(n); ok {
			return true
		}
	}
	return false
}

// at records a finding at a value.
func (c *check) at(class string, v args.Value, why string) {
	c.add(class, v.Offset(), v.Offset()+len(v.Raw()), why)
}

// each goes through the members of a member that is an object.
func each(v args.Value, name string, f func(name string, x args.Value)) {
	m, _ := v.Get(name)
	if m.Kind() != '{' {
		return
	}
	for n, x := range m.All() {
		f(n, x)
	}
}

// text is the text of a member.
func text(v args.Value, name string) string {
	m, _ := v.Get(name)
	return m.Text()
}

// A member is a pair in a part of a JSON document.
type member struct {
	section  string // the name of the object around, as far as the part shows it
	name     string
	value    string
	from, to int
}

// members are the pairs of texts in a part of a JSON document, with the names of the
// objects that the part shows around them. What is not JSON is passed over.
func members(s string, f func(m member)) {
	var stack []string
	key, keyAt, colon := "", -1, false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			str, end := quoted(s, i)
			switch {
			case colon:
				f(member{section: top(stack), name: key, value: str, from: keyAt, to: end})
				keyAt, colon = -1, false
			default:
				key, keyAt = str, i
			}
			i = end - 1
		case ':':
			colon = keyAt >= 0
		case '{', '[':
			name := ""
			if colon {
				name = key
			} else if s[i] == '[' {
				name = top(stack)
			}
			if len(stack) < maxStack {
				stack = append(stack, name)
			}
			keyAt, colon = -1, false
		case '}', ']':
			if keyAt >= 0 && !colon {
				f(member{section: top(stack), value: key, from: keyAt, to: i})
			}
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
			keyAt, colon = -1, false
		case ',':
			if keyAt >= 0 && !colon {
				f(member{section: top(stack), value: key, from: keyAt, to: i})
			}
			keyAt, colon = -1, false
		}
	}
	if keyAt >= 0 && !colon {
		f(member{section: top(stack), value: key, from: keyAt, to: len(s)})
	}
}

// maxStack is how deep members looks; a part that is nested deeper is no manifest.
const maxStack = 256

func top(stack []string) string {
	if len(stack) == 0 {
		return ""
	}
	return stack[len(stack)-1]
}

// quoted is the text of the JSON string at i, and where it ends. A string that does not
// end is taken to the end of its line.
func quoted(s string, i int) (string, int) {
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '\n':
			return s[i+1 : j], j
		case '"':
			return unquoteJSON(s[i : j+1]), j + 1
		}
	}
	return s[i+1:], len(s)
}
