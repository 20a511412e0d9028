package host

import "strings"

// Turn is why the rule refuses the text under a name that says where somebody is sent;
// empty: it passes. Besides a URL, however often it is percent-encoded, a bare host is
// judged ("evil.test", "evil.test:8443/x", "localhost"), since servers put a scheme
// before it. What is no host and no URL passes, as "/home" and "docs.md" do. loose says
// that the name may mean files and people too.
func (r *Rule) Turn(text string, loose bool) (why string) {
	switch {
	case r == nil || !r.made:
		return WhyNoRule
	case len(text) > maxURL:
		return WhyLong
	case !strings.ContainsAny(text, ".%:/\\\u3002\uff0e\uff61") && !isLocal(text):
		return ""
	}
	if why = r.turned(text, loose); why == "" {
		why = r.leads(text, 0)
	}
	if why == "" {
		why = r.nested(text, 0)
	}
	return why
}

// turned is why a bare host is refused, as the text stands and decoded. What follows it
// is left to those who judge the parameters.
func (r *Rule) turned(text string, loose bool) string {
	for range maxDecode + 1 {
		if why := r.bare(asBrowsed(text), loose); why != "" {
			return why
		}
		next := decode(text)
		if next == text {
			break
		}
		text = next
	}
	return ""
}

func (r *Rule) bare(text string, loose bool) string {
	h, rest := text, ""
	if i := strings.IndexAny(text, "/?#\\;&="); i >= 0 {
		h, rest = text[:i], text[i:]
	}
	if i := strings.LastIndexByte(h, '@'); i >= 0 {
		if loose && rest == "" {
			return "" // an address to write to
		}
		if h = h[i+1:]; looksLikeHost(h, rest, loose) {
			return WhyUser
		}
		return ""
	}
	if !looksLikeHost(h, rest, loose) {
		return ""
	}
	p, why := parts{host: h}.cutPort()
	if why == "" {
		why = r.judge(p)
	}
	return r.inside(why)
}

// looksLikeHost tells whether a text is host[:port], the host with a dot or one of this
// machine. rest is what follows it.
func looksLikeHost(text, rest string, loose bool) bool {
	h := text
	if i := strings.IndexByte(h, ':'); i >= 0 && h[0] != '[' {
		port := h[i+1:]
		if h = h[:i]; strings.Trim(port, "0123456789") != "" {
			return false // a scheme
		}
		rest = text[i:]
	}
	if h == "" || h[0] == '[' {
		return h != "" && strings.IndexByte(h, ']') > 0 && strings.IndexByte(h, ':') > 0
	}
	if isLocal(h) {
		return true
	}
	dots, wide, from := 0, false, 0
	for i := range len(h) {
		switch c := h[i]; {
		case c == '.':
			if dots++; i == from || i-from > 63 {
				return false // no name that could be found
			}
			from = i + 1
		case c >= 0x80:
			wide = true
		case !letter(c) && !digit(c) && c != '-' && c != '_':
			return false
		}
	}
	if len(h)-from > 63 {
		return false
	}
	if wide && dots == 0 {
		return strings.ContainsAny(h, "\u3002\uff0e\uff61")
	}
	if h = strings.TrimSuffix(h, "."); strings.IndexByte(h, '.') < 0 {
		return false
	}
	last := h[strings.LastIndexByte(h, '.')+1:]
	if number(last) {
		return strings.Count(h, ".") == 3 && strings.Trim(h, "0123456789.") == "" // else a version
	}
	return !isFile(last, dots == 1 && (rest == "" || rest[0] == '?' || rest[0] == '#'), loose)
}

func isLocal(h string) bool { return equalFold(h, "localhost") || equalFold(h, "localhost.") }

// isFile tells whether a last label is the ending of a file. Some are domains as well:
// plain says that nothing else speaks for a host.
func isFile(end string, plain, loose bool) bool {
	return listed(pages, end) || plain && equalFold(end, "md") || loose && (listed(sources, end) || plain && listed(domains, end))
}

// pages are endings that are no domains, of what a server shows.
var pages = strings.Fields("html htm xhtml shtml php php3 php5 phtml asp aspx jsp jspx jsf cgi cfm txt pdf json xml rss css js mjs svg png jpg jpeg gif webp ico csv")

// sources are endings that are no domains, of other files, domains those that are.
var (
	sources = strings.Fields("go c h cpp hpp java kt swift ts tsx jsx rb lua sql yml yaml toml ini cfg conf log lock bak tmp env rst adoc doc docx xls xlsx ppt pptx odt tar gz tgz bz2 xz 7z jar war exe dll bin iso img mp3 mp4 wav patch diff")
	domains = strings.Fields("py rs sh zip pl cc mov ps so")
)

// redirects tells whether a text is the name of a parameter that says where somebody is
// sent, and whether such a name may mean other things too. Signs, digits and case aside.
func redirects(name string) (ok, loose bool) {
	var buf [32]byte
	b := buf[:0]
	if strings.IndexByte(name, '%') >= 0 {
		name = decode(name)
	}
	for i := range len(name) {
		if c := name[i]; letter(c) {
			if len(b) == len(buf) {
				return false, false
			}
			b = append(b, c|0x20)
		}
	}
	switch s := string(b); s {
	case "u", "to", "target", "dest", "destination":
		return true, true
	case "redir", "next", "nextpage", "goto", "jump", "jumpto", "return", "returnto", "returnpath", "ret", "continue", "continueto", "cont", "callback", "forward", "forwardto", "fwd", "back",
		"backto", "service", "relaystate":
		return true, false
	default:
		return strings.HasSuffix(s, "url") || strings.HasSuffix(s, "uri") || strings.Contains(s, "redirect"), false
	}
}

// sends tells whether a parameter of one part of a URL sends to a bare host that is
// refused. Each is looked at once, up to what could begin another.
func (r *Rule) sends(piece string) bool {
	name := 0
	for i := 0; i < len(piece); i++ {
		switch piece[i] {
		case '?', ';', '&', '/', '#':
			name = i + 1
		case '=':
			if i > name {
				if ok, loose := redirects(piece[name:i]); ok {
					end := strings.IndexAny(piece[i+1:], "=;?")
					if end < 0 {
						end = len(piece) - i - 1
					}
					if r.turned(piece[i+1:i+1+end], loose) != "" {
						return true
					}
				}
			}
			name = i + 1
		}
	}
	return false
}
