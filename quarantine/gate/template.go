package gate

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// ErrTemplate says that a text is no URI template of the kind that is matched.
var ErrTemplate = errors.New("gate: not a URI template that is matched")

// A URITemplate is a URI template (RFC 6570) that URIs are held against.
//
// Matching is narrower than what the template could expand to: the scheme is
// literal, no variable is empty, expressions with ";" are not known, and no
// variable brings a dot segment, a backslash, or an escaped slash, dot or control
// character. Whoever needs more lists the resource or links it.
type URITemplate struct {
	prefix string // literal text before the first expression
	re     *regexp.Regexp
	size   int // what a match costs, at most, for each byte
}

const (
	maxExpressions = 32
	maxPattern     = 16 << 10 // bytes of the regular expression
	maxSize        = 8 << 10  // steps of it, with repetitions written out: what is more is not compiled
	pct            = `%[0-9A-Fa-f][0-9A-Fa-f]`
	simple         = `(?:[A-Za-z0-9._~-]|` + pct + `)`
	reserved       = `(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|` + pct + `)`
)

// ParseTemplate reads a template.
func ParseTemplate(s string) (*URITemplate, error) {
	prefix, _, _ := strings.Cut(s, "{")
	scheme, _, ok := strings.Cut(prefix, ":")
	if !ok || scheme == "" || len(s) > MaxURI || !plainScheme(scheme) {
		return nil, ErrTemplate // {+uri} alone would open everything
	}
	var re strings.Builder
	re.WriteString(`\A`)
	for n := 0; s != ""; n++ {
		lit, rest, expr := strings.Cut(s, "{")
		if !plainLiteral(lit) || n > maxExpressions {
			return nil, ErrTemplate
		}
		re.WriteString(regexp.QuoteMeta(lit))
		if !expr {
			break
		}
		body, after, ok := strings.Cut(rest, "}")
		x, err := expression(body)
		if !ok || err != nil {
			return nil, ErrTemplate
		}
		if re.WriteString(x); re.Len() > maxPattern {
			return nil, ErrTemplate
		}
		s = after
	}
	re.WriteString(`\z`)
	return compile(prefix, re.String())
}

// compile makes the template of a pattern. A few bytes of a template can be a
// pattern of megabytes, so its size is known before it is compiled.
func compile(prefix, pattern string) (*URITemplate, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, ErrTemplate
	}
	size := sizeOf(tree)
	if size > maxSize {
		return nil, ErrTemplate
	}
	c, err := regexp.Compile(pattern)
	if err != nil {
		return nil, ErrTemplate
	}
	return &URITemplate{prefix: prefix, re: c, size: size}, nil
}

// sizeOf is about how many steps a pattern has; beyond maxSize it is only that.
func sizeOf(x *syntax.Regexp) int {
	n := 1 + len(x.Rune)
	if x.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range x.Sub {
		n = min(n+sizeOf(sub), maxSize+1)
	}
	if x.Op == syntax.OpRepeat {
		n *= max(1, x.Min, x.Max)
	}
	return min(n, maxSize+1)
}

// Match tells whether the template gives the URI.
func (t *URITemplate) Match(uri string) bool {
	if len(uri) > MaxURI || !strings.HasPrefix(uri, t.prefix) || !plainURI(uri) {
		return false
	}
	return harmless(uri[len(t.prefix):], strings.HasSuffix(t.prefix, "/")) && t.re.MatchString(uri)
}

// harmless tells whether the variable part of a URI stays below what the template
// names, however its reader decodes it.
func harmless(s string, atSegment bool) bool {
	for i := 0; i+2 < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		b, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil || b < ' ' || b == '.' || b == '/' || b == '\\' || b == '%' || b == 0x7f {
			return false
		}
	}
	segments := strings.FieldsFunc("x"+s, func(r rune) bool { return r == '/' || r == '?' || r == '#' || r == '=' || r == '&' })
	for i, g := range segments {
		if i == 0 {
			if g = g[1:]; !atSegment && g != ".." {
				continue // it goes on a segment of the template's own
			}
		}
		if g == "." || g == ".." {
			return false
		}
	}
	return true
}

func plainLiteral(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`|}", c) >= 0 {
			return false
		}
	}
	return true
}

type variable struct {
	name    string
	length  int // at most; 0: any
	explode bool
}

func expression(body string) (string, error) {
	op := byte(0)
	if body != "" && strings.IndexByte("+#./?&", body[0]) >= 0 {
		op, body = body[0], body[1:]
	}
	var vars []variable
	for part := range strings.SplitSeq(body, ",") {
		v, err := parseVariable(part)
		if err != nil || len(vars) == 16 {
			return "", ErrTemplate
		}
		vars = append(vars, v)
	}
	switch op {
	case 0:
		return list("", ",", simple, vars), nil
	case '+':
		return list("", ",", reserved, vars), nil
	case '#':
		return list("#", ",", reserved, vars), nil
	case '.':
		return list(`\.`, `\.`, simple, vars), nil
	case '/':
		return list("/", "/", simple, vars), nil
	default:
		return query(op, vars), nil
	}
}

func parseVariable(s string) (v variable, err error) {
	name, mod, colon := strings.Cut(s, ":")
	if v.name = name; colon {
		v.length, err = strconv.Atoi(mod)
		if err != nil || v.length < 1 || v.length > 999 {
			return v, ErrTemplate
		}
	} else if n, ok := strings.CutSuffix(name, "*"); ok {
		v.name, v.explode = n, true
	}
	if v.name == "" {
		return v, ErrTemplate
	}
	for i := range len(v.name) {
		c := v.name[i]
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; !letter && !(c >= '0' && c <= '9') && c != '_' && c != '.' && c != '-' {
			return v, ErrTemplate // "-" is not of RFC 6570 but in use
		}
	}
	return v, nil
}

// value is one variable's value. A length is a bound on what is read, so that a
// regular expression of it stays small.
func (v variable) value(class, sep string) string {
	if v.length > 0 {
		return class + "{1," + strconv.Itoa(v.length) + "}"
	}
	if v.explode {
		return class + "+(?:" + sep + class + "+)*"
	}
	return class + "+"
}

// list is a form in which every variable has a value, or, from the last on,
// none.
func list(first, sep, class string, vars []variable) string {
	out := ""
	for i := len(vars) - 1; i >= 0; i-- {
		lead := sep
		if i == 0 {
			lead = first
		}
		out = lead + vars[i].value(class, sep) + out
		if i > 0 {
			out = "(?:" + out + ")?"
		}
	}
	return out
}

// query is a form in which any variable may be missing, in the template's order.
func query(op byte, vars []variable) string {
	lead := regexp.QuoteMeta(string(op))
	if op == '&' {
		out := ""
		for _, v := range vars {
			out += "(?:&" + regexp.QuoteMeta(v.name) + "=" + v.value(simple, ",") + ")?"
		}
		return out
	}
	// ?a=1&b=2: what comes first has the question mark. One alternative for each
	// variable that may be first.
	var alts []string
	for i := range vars {
		alt := lead + regexp.QuoteMeta(vars[i].name) + "=" + vars[i].value(simple, ",")
		for _, v := range vars[i+1:] {
			alt += "(?:&" + regexp.QuoteMeta(v.name) + "=" + v.value(simple, ",") + ")?"
		}
		alts = append(alts, alt)
	}
	return "(?:" + strings.Join(alts, "|") + ")?"
}
