package content

import (
	"path"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxYAML is the longest configuration that is read, in bytes: reading costs more than
// the text is long where it is made for that.
const maxYAML = 128 << 10

// A scalar is a value in a YAML document and the names above it.
type scalar struct {
	path     []string // names of members; indexes in digits
	value    string
	from, to int
}

// key is the innermost name of a member.
func (s *scalar) key() string {
	for i := len(s.path) - 1; i >= 0; i-- {
		if strings.Trim(s.path[i], "0123456789") != "" {
			return s.path[i]
		}
	}
	return ""
}

// plain is the path without indexes.
func (s *scalar) plain() string {
	var b strings.Builder
	for _, p := range s.path {
		if strings.Trim(p, "0123456789") != "" {
			b.WriteByte('/')
			b.WriteString(p)
		}
	}
	return b.String()
}

// readYAML judges CI configuration, compose files and workspaces.
func (c *check) readYAML() {
	switch c.kind {
	case compose, pnpmWorkspace:
	default:
		if c.j.off[CI] {
			return
		}
		if c.j.ciNever {
			c.all(CI, whyCIWritten)
			return
		}
	}
	if c.kind == otherCI && c.otherForm() {
		return
	}
	if len(c.text) > maxYAML {
		c.all(Unread, whyLong)
		return
	}
	if c.w.Part {
		c.yamlPart()
		return
	}
	if !shallow(c.text) {
		c.all(Unread, whyLong)
		return
	}
	f, err := parser.ParseBytes([]byte(c.text), 0)
	if err != nil {
		c.all(Unread, whyUnread)
		return
	}
	w := yamlWalk{starts: lineStarts(c.text), size: len(c.text)}
	for _, d := range f.Docs {
		w.visit(d.Body, nil)
	}
	if w.deep {
		c.all(Unread, whyLong)
		return
	}
	if w.odd {
		c.all(Unread, whyUnread)
	}
	c.scalars(w.out)
}

// otherForm judges what CI reads as something else than YAML; false where it is YAML.
func (c *check) otherForm() bool {
	switch path.Ext(c.name) {
	case ".yml", ".yaml", ".json", ".jsonc":
		return false
	case ".md", ".txt":
	case ".sh", ".bash":
		c.shellText(c.text, 0)
	default:
		if path.Base(c.name) == "procfile" {
			return false
		}
		if strings.HasPrefix(c.text, "#!") {
			c.shellText(c.text, 0)
			break
		}
		c.all(Unread, whyUnread)
	}
	return true
}

// shallow tells whether a configuration is as people write them: with few brackets in
// each other, few documents, few merges. Reading others takes too long.
func shallow(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[', '{':
			if depth++; depth > 200 {
				return false
			}
		case ']', '}', '\n':
			depth = max(0, depth-1)
		}
	}
	return strings.Count(s, "---") <= 500 && strings.Count(s, "<") <= 2000
}

func lineStarts(s string) []int {
	starts := []int{0}
	for i := range len(s) {
		if s[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// A yamlWalk collects the scalars of a document. Aliases are not followed: what they
// stand for is judged where it stands.
type yamlWalk struct {
	out    []scalar
	starts []int
	size   int
	deep   bool
	odd    bool
}

func (w *yamlWalk) visit(n ast.Node, path []string) {
	if len(path) > 100 {
		w.deep = true
		return
	}
	path = path[:len(path):len(path)]
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, m := range n.Values {
			w.member(m, path)
		}
	case *ast.MappingValueNode:
		w.member(n, path)
	case *ast.SequenceNode:
		for i, v := range n.Values {
			w.visit(v, append(path, strconv.Itoa(i)))
		}
	case *ast.AnchorNode:
		w.visit(n.Value, path)
		from := len(w.out)
		w.visit(n.Value, nil) // it may stand for a command elsewhere
		for i := range w.out[from:] {
			w.out[from+i].path = []string{"script"}
		}
	case *ast.TagNode:
		if strings.HasSuffix(n.Start.Value, "binary") {
			w.odd = true // a text that is decoded once more
		}
		w.visit(n.Value, path)
	case *ast.LiteralNode:
		w.add(path, n.Value.Value, n.GetToken().Position.Line, true)
	case *ast.StringNode:
		w.add(path, n.Value, n.GetToken().Position.Line, false)
	case ast.ScalarNode:
		w.add(path, n.GetToken().Value, n.GetToken().Position.Line, false)
	}
}

func (w *yamlWalk) member(m *ast.MappingValueNode, path []string) {
	name := ""
	if k, ok := m.Key.(*ast.StringNode); ok {
		name = k.Value
	} else if t := m.Key.GetToken(); t != nil {
		name = t.Value
	}
	w.visit(m.Value, append(path, name))
}

// add records a scalar with the lines that it is on.
func (w *yamlWalk) add(path []string, value string, line int, block bool) {
	last := line + strings.Count(value, "\n")
	if block {
		last++
	}
	at := func(n int) int {
		if n-1 < len(w.starts) {
			return w.starts[max(0, n-1)]
		}
		return w.size
	}
	s := scalar{path, value, at(line), max(at(line), at(last+1)-1)}
	w.out = append(w.out, s)
	if s.value, _ = ended(value, endsCR); s.value != value { // a shell of Windows ends lines there
		w.out = append(w.out, s)
	}
}

// yamlPart judges a part of a configuration line by line: every value is one, and a line
// without a name may be a command.
func (c *check) yamlPart() {
	var out []scalar
	eachLine(c.text, func(l textLine) {
		s := strings.TrimSpace(strings.TrimPrefix(l.text, "- "))
		if s == "" || s[0] == '#' {
			return
		}
		key, value, ok := strings.Cut(s, ":")
		if ok && !strings.ContainsAny(key, " \"'$(") && (value == "" || value[0] == ' ') {
			out = append(out, scalar{[]string{strings.TrimSpace(key)}, unquoteYAML(value), l.from, l.to})
			return
		}
		out = append(out, scalar{[]string{"script"}, unquoteYAML(s), l.from, l.to})
	})
	c.scalars(out)
}

func unquoteYAML(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch in := s[1 : len(s)-1]; s[0] {
	case '"':
		if !strings.Contains(in, `\`) {
			return in
		}
		var b strings.Builder
		for i := 0; i < len(in); i++ {
			if in[i] == '\\' && i+1 < len(in) {
				i += unescape(&b, in[i+1:])
				continue
			}
			b.WriteByte(in[i])
		}
		return b.String()
	case '\'':
		return strings.ReplaceAll(in, "''", "'")
	}
	return s
}
