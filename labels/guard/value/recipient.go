package value

import (
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// ErrRecipient says that a text is no recipient to allow: an address, "@" and a domain,
// or a name without an "@" as it is written.
var ErrRecipient = errors.New("value: not a recipient: an address, @ and a domain, or a plain name")

// What is said of a recipient that is refused. None repeats it.
const (
	WhyNoRecipient     = "No recipients were read; nobody may be written to."
	WhyOtherRecipient  = "A recipient is none of those that are allowed."
	WhyUnsureRecipient = "A recipient is written in a way that two programs could read differently."
)

// MaxRecipients is how many bytes of a text are judged; what is longer is refused.
const MaxRecipients = 16 << 10

// Recipients are those that may be written to. They are immutable and may be shared.
// The zero value, and nil, refuse everybody.
type Recipients struct {
	addresses map[address]bool
	domains   map[string]bool
	names     map[string]bool // no mail: of a channel, a phone, a user
}

type address struct{ local, domain string }

// ReadRecipients reads those that are allowed: "ann@corp.example" is that address,
// "@corp.example" every address of exactly that domain, "#ops" or "+4912345" that text.
func ReadRecipients(list []string) (*Recipients, error) {
	r := &Recipients{map[address]bool{}, map[string]bool{}, map[string]bool{}}
	if len(list) == 0 {
		return nil, ErrRecipient
	}
	for _, text := range list {
		dom, at := strings.CutPrefix(text, "@")
		switch {
		case at && strings.Contains(dom, "."):
			d, ok := domain(dom)
			if !ok {
				return nil, ErrRecipient
			}
			r.domains[d] = true
		case strings.Contains(text[min(len(text), 1):], "@"):
			a, ok := parseAddress(text)
			if !ok {
				return nil, ErrRecipient
			}
			r.addresses[a] = true
		case text == "@" || !plainName(text):
			return nil, ErrRecipient
		default:
			r.names[text] = true
		}
	}
	return r, nil
}

// Check is why the recipients of a text are refused, all of them: one, a list with
// commas or semicolons, with display names or without; empty: they pass.
func (r *Recipients) Check(text string) (why string) {
	if r == nil || len(r.addresses)+len(r.domains)+len(r.names) == 0 {
		return WhyNoRecipient
	}
	list, ok := recipients(text)
	if !ok {
		return WhyUnsureRecipient
	}
	for _, one := range list {
		if why := r.check(one); why != "" {
			return why
		}
	}
	return ""
}

func (r *Recipients) check(one string) string {
	if !strings.Contains(one[1:], "@") {
		switch {
		case !plainName(one):
			return WhyUnsureRecipient
		case !r.names[one]:
			return WhyOtherRecipient
		}
		return ""
	}
	a, ok := parseAddress(one)
	switch {
	case !ok:
		return WhyUnsureRecipient
	case r.addresses[a] || r.domains[a.domain]:
		return ""
	}
	return WhyOtherRecipient
}

// May tells whether some recipient of a text may be one of these: case, what stands
// behind a plus sign and dots in an address do not tell two people apart, and what is
// not sure is one of them.
func (r *Recipients) May(text string) bool {
	if r == nil {
		return true
	}
	list, ok := recipients(text)
	if !ok {
		return true
	}
	for _, one := range list {
		if r.check(one) != WhyOtherRecipient {
			return true
		}
		a, ok := parseAddress(one)
		for x := range r.addresses {
			if ok && x.domain == a.domain && mailbox(x.local) == mailbox(a.local) {
				return true
			}
		}
		for n := range r.names {
			if !ok && string(lookalike.Fold(nil, n)) == string(lookalike.Fold(nil, one)) {
				return true
			}
		}
	}
	return false
}

// mailbox is what many servers make of a local part.
func mailbox(local string) string {
	local, _, _ = strings.Cut(string(lookalike.Fold(nil, local)), "+")
	return strings.ReplaceAll(local, ".", "")
}

// recipients takes a list apart, down to the addresses; false where that is not sure.
// Nothing that is empty is in it.
func recipients(text string) ([]string, bool) {
	if text == "" || len(text) > MaxRecipients || !utf8.ValidString(text) {
		return nil, false
	}
	for _, c := range text {
		if c < ' ' || c == 0x7f || lookalike.Unseen(c) || c == '(' || c == ')' || c == '\\' || c == '%' || c == '?' {
			return nil, false // injected lines, comments, encoded words, routes
		}
	}
	var list []string
	for len(text) > 0 {
		var item string
		item, text = cutItem(text)
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		one, ok := bare(item)
		if !ok {
			return nil, false
		}
		list = append(list, one)
	}
	return list, len(list) > 0
}

// cutItem cuts at the first comma or semicolon outside of quotation marks.
func cutItem(text string) (item, rest string) {
	quoted := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case (c == ',' || c == ';') && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// bare takes mailto: or a display name off an address.
func bare(item string) (string, bool) {
	if len(item) > 7 && strings.EqualFold(item[:7], "mailto:") {
		item = item[7:]
	}
	before, in, angle := strings.Cut(item, "<")
	if !angle {
		return item, !strings.Contains(item, ">")
	}
	in, ok := strings.CutSuffix(in, ">")
	if !ok || in == "" || strings.ContainsAny(in, "<>, ") || strings.ContainsAny(before, "@<>:") {
		return "", false // an address in the name: whoever reads leniently may take that one
	}
	name := strings.TrimSpace(before)
	if n := strings.Count(name, `"`); n != 0 && (n != 2 || name[0] != '"' || name[len(name)-1] != '"') {
		return "", false
	}
	return in, true
}

// parseAddress reads one address without a name. What only some servers take (quotes
// around more than a plain local part, routes, literals) is refused.
func parseAddress(text string) (address, bool) {
	i := strings.LastIndexByte(text, '@')
	if i < 1 {
		return address{}, false
	}
	local := text[:i]
	if len(local) > 2 && local[0] == '"' && local[len(local)-1] == '"' {
		local = local[1 : len(local)-1]
	}
	d, ok := domain(text[i+1:])
	if !ok || len(local) > 64 || local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, "..") {
		return address{}, false
	}
	for _, c := range local {
		plain := c >= 0x80 && !lookalike.Unseen(c) && c != utf8.RuneError || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !plain && !strings.ContainsRune(".-_+'&=#~", c) {
			return address{}, false
		}
	}
	return address{local, d}, true
}

// domain is the name of a mail domain in ASCII and lower case.
func domain(text string) (string, bool) {
	d, err := idna.Lookup.ToASCII(strings.TrimSuffix(text, "."))
	if err != nil || d == "" || len(d) > 253 || !strings.Contains(d, ".") || !utf8.ValidString(text) {
		return "", false
	}
	for label := range strings.SplitSeq(d, ".") {
		if label == "" {
			return "", false
		}
	}
	for i := range len(d) {
		if c := d[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.') {
			return "", false
		}
	}
	last := d[strings.LastIndexByte(d, '.')+1:]
	return d, strings.Trim(last, "0123456789") != "" // else an address of IPv4
}

// plainName tells whether a text is one name, and no list or address.
func plainName(text string) bool {
	if text == "" || len(text) > 256 || !utf8.ValidString(text) || text != strings.TrimSpace(text) {
		return false
	}
	for _, c := range text {
		if c < ' ' || c == 0x7f || lookalike.Unseen(c) || strings.ContainsRune(`,;<>"()\%?:`, c) {
			return false
		}
	}
	return !strings.Contains(text[1:], "@")
}
