package guard

import (
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/host"
)

// severalURLs tells whether a text begins with a scheme and has another one.
func severalURLs(text string) bool {
	i := strings.IndexByte(text[:min(len(text), maxScheme)], ':')
	if i <= 0 || !strings.HasPrefix(text[i:], "://") {
		return false
	}
	for j := range i {
		if c := text[j]; !isLetter(c) && (c < '0' || '9' < c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return strings.Contains(text[i+3:], "://")
}

// maxScheme is how long a scheme is looked for.
const maxScheme = 32

// hosts judges a text under a name of URLs or hosts: each of a list under a name of
// several.
func (w *walker) hosts(v args.Value, text string, k kind) {
	s, why := w.set.hosts, ""
	if names(text, k) {
		why = s.Check(text)
	} else if strings.Contains(text, "://") {
		why = s.Further(text)
	}
	if w.refuse("host", v, why); why != "" || k&isMany == 0 || !strings.ContainsAny(text, urlMarks) {
		return
	}
	if len(text) > maxURLs {
		w.refuse("host", v, host.WhyLong)
		return
	}
	for part := range strings.FieldsFuncSeq(text, partsURLs) {
		if names(part, k) {
			w.refuse("host", v, s.Check(part))
		}
	}
}

// allHosts is why a text, or a part of the list that it is under a name of several, is
// refused.
func allHosts(r *host.Rule, text string, many bool) string {
	if why := r.Check(text); why != "" || !many || !strings.ContainsAny(text, urlMarks) {
		return why
	}
	for part := range strings.FieldsFuncSeq(text, partsURLs) {
		if why := r.Check(part); why != "" {
			return why
		}
	}
	return ""
}

// anyHost tells whether a text, or a part of the list that it is under a name of
// several, may be one that passes.
func anyHost(r *host.Rule, text string, many bool) bool {
	if r.May(text) {
		return true
	}
	if many {
		for part := range strings.FieldsFuncSeq(text, partsURLs) {
			if r.May(part) {
				return true
			}
		}
	}
	return false
}

// names tells whether a text under a name of kind k names a host.
func names(text string, k kind) bool {
	return text != "" && (k&isHost != 0 || k&isURL != 0 && looksLikeURL(text) || isWeb(text))
}

// urlMarks part the URLs of a list in one text.
const urlMarks = " ,;|\t\r\n"

func partsURLs(r rune) bool { return strings.ContainsRune(urlMarks, r) }

// maxURLs is the length of a list that is taken apart.
const maxURLs = 8192
