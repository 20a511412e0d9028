package host

import "strings"

// maxDecode is how often percent escapes of a parameter are undone.
const maxDecode = 3

// maxStarts is in how many places of one parameter a URL is looked for.
const maxStarts = 8

// nested judges the URLs that stand in the parameters of a URL: in its query and
// fragment, as they stand and decoded, and bare hosts under names that say where
// somebody is sent. Servers follow them, or show them to be followed.
func (r *Rule) nested(rest string, depth int) string {
	i := strings.IndexAny(rest, "?#")
	if i < 0 || strings.IndexByte(rest[i:], '=') < 0 && !strings.ContainsAny(rest[i:], `%/\:`) {
		return ""
	}
	for rest = rest[i+1:]; rest != ""; {
		piece := rest
		if i := strings.IndexAny(rest, "&#"); i >= 0 {
			piece, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		if r.sends(piece) || r.piece(piece, depth) {
			return WhyNested
		}
	}
	return ""
}

// piece tells whether a URL to a host that is refused begins somewhere in one
// parameter: at its beginning, or behind a sign that some take for the end of a name
// or of the parameter before.
func (r *Rule) piece(piece string, depth int) bool {
	for starts := 0; strings.ContainsAny(piece, `%/\:`); starts++ {
		if starts == maxStarts || r.leads(piece, depth) != "" {
			return true
		}
		if i := strings.IndexByte(piece, ';'); i >= 0 && r.leads(piece[:i], depth) != "" {
			return true
		}
		i := strings.IndexAny(piece, "=;?")
		if i < 0 {
			return false
		}
		piece = piece[i+1:]
	}
	return false
}

// leads is why a parameter that is a URL is refused; empty: it passes, or is none. A
// rule that looks for its hosts says why where it finds one.
func (r *Rule) leads(value string, depth int) string {
	for range maxDecode + 1 {
		if v := asBrowsed(value); r.follows(v) {
			if schemeOf(v) == "" {
				v = "https:" + v // "//host": what the page that it stands in has
			}
			if why := r.inside(r.check(v, depth+1)); why != "" {
				return why
			}
		}
		next := decode(value)
		if next == value {
			return ""
		}
		value = next
	}
	if r.follows(asBrowsed(value)) || strings.IndexByte(value, '%') >= 0 {
		return WhyNested
	}
	return ""
}

// asBrowsed is a parameter as browsers take it for a URL: without what is blank around it,
// and without tabs and line breaks (https://url.spec.whatwg.org/#concept-basic-url-parser).
func asBrowsed(v string) string {
	v = strings.TrimFunc(v, func(c rune) bool { return c <= ' ' || c == '+' })
	if strings.ContainsAny(v, "\t\r\n") {
		v = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(v)
	}
	return v
}

// inside is what is said of a parameter of whose host why was said; empty: it does not
// matter.
func (r *Rule) inside(why string) string {
	switch {
	case !r.may:
		return why
	case why == WhyOther:
		return ""
	}
	return WhyNested
}

// fetched are schemes besides the browsed ones that libraries fetch from a host; those
// of applications ("myapp://callback") stay on the machine.
var fetched = []string{"ssh", "sftp", "git", "git+ssh", "git+https", "svn", "ftps", "tftp", "gopher", "dict", "ldap", "ldaps", "smb", "telnet", "rsync", "s3", "redis", "mongodb", "postgres", "postgresql", "mysql", "amqp"}

// follows tells whether a text would lead a browser or a library to a host of its own.
func (r *Rule) follows(v string) bool {
	if len(v) > 1 && slash(v[0]) && slash(v[1]) {
		return true
	}
	s := schemeOf(v)
	switch {
	case s == "" || len(v) == len(s)+1:
		return false
	case listed(browsed, s):
		return true
	}
	return strings.HasPrefix(v[len(s):], "://") && (listed(fetched, s) || r.speaks(s))
}

func slash(c byte) bool { return c == '/' || c == '\\' }

// decode undoes percent escapes once, those that are whole.
func decode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && hex(s[i+1]) < 16 && hex(s[i+2]) < 16 {
			b = append(b, hex(s[i+1])<<4|hex(s[i+2]))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

// hex is the value of a digit; 16 or more: it is none.
func hex(c byte) byte {
	switch {
	case digit(c):
		return c - '0'
	case (c|0x20)-'a' <= 5:
		return c | 0x20 - 'a' + 10
	}
	return 16
}
