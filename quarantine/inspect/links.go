package inspect

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// links finds pictures and addresses that carry data away when they are shown:
// one with a place for it in its query. Badges and photographs have none.
func (j *judge) links(v *unfold.View) {
	text := v.Text
	for i := 0; ; {
		k := strings.Index(text[i:], "![")
		if k < 0 {
			break
		}
		i += k + 2
		open := strings.Index(text[i:min(len(text), i+256)], "](")
		if open < 0 {
			continue
		}
		from := i + open + 2
		j.carries(v, i-2, from, addressEnd(text, from), true)
	}
	for i := 0; ; {
		k := strings.IndexByte(text[i:], '<')
		if k < 0 {
			break
		}
		i += k + 1
		if len(text) < i+4 || !strings.EqualFold(text[i:i+3], "img") {
			continue
		}
		src := strings.Index(text[i:min(len(text), i+256)], "src=")
		if src < 0 {
			continue
		}
		from := i + src + 4
		if from < len(text) && (text[from] == '"' || text[from] == '\'') {
			from++
		}
		j.carries(v, i-1, from, addressEnd(text, from), false)
	}
	if j.s.Kind == quarantine.KindURI {
		low := strings.ToLower(strings.TrimSpace(text))
		if strings.HasPrefix(low, "javascript:") || strings.HasPrefix(low, "vbscript:") || strings.HasPrefix(low, "data:text/html") || strings.HasPrefix(low, "data:application/javascript") {
			j.find(quarantine.Tracking, quarantine.Suspect, 0, len(j.s.Text))
		}
	}
}

// addressEnd is where an address ends: at its bracket, quote or blank.
func addressEnd(text string, from int) int {
	for i := from; i < len(text) && i < from+2048; i++ {
		switch text[i] {
		case ')', '"', '\'', ' ', '\n', '\t':
			return i
		}
	}
	return min(len(text), from+2048)
}

// carries judges the address of a picture in [from, to) of a view; the picture
// begins at start. In Markdown an empty value waits for what is to be carried;
// pages count their visitors with such ones.
func (j *judge) carries(v *unfold.View, start, from, to int, markdown bool) {
	address := v.Text[from:to]
	if !strings.HasPrefix(address, "http") && !strings.HasPrefix(address, "//") {
		return
	}
	_, query, _ := strings.Cut(address, "?")
	if query == "" || !strings.ContainsAny(query, "{[<$") && !(markdown && strings.HasSuffix(query, "=")) {
		return
	}
	a, b := v.Origin(start, to)
	j.find(quarantine.Tracking, quarantine.Suspect, a, b)
}

// keyPrefixes begin keys of well-known makes, with the least length of a whole
// one.
var keyPrefixes = []struct {
	prefix string
	least  int
}{
	{"AKIA", 20}, {"ASIA", 20}, {"ghp_", 36}, {"gho_", 36}, {"ghs_", 36}, {"github_pat_", 40}, {"glpat-", 26}, {"xoxb-", 30}, {"xoxp-", 30},
	{"sk-ant-", 30}, {"sk-", 32}, {"sk_live_", 24}, {"rk_live_", 24}, {"AIza", 39}, {"npm_", 36}, {"-----BEGIN ", 0},
}

// values finds keys as such in metadata, where a name of one would do.
func (j *judge) values(v *unfold.View) {
	if len(v.Text) < 20 {
		return
	}
	for _, k := range keyPrefixes {
		for i := 0; ; {
			n := strings.Index(v.Text[i:], k.prefix)
			if n < 0 {
				break
			}
			i += n
			end := i + len(k.prefix)
			for end < len(v.Text) && (kinds[v.Text[end]] == aByte || kinds[v.Text[end]] == zeroByte || v.Text[end] == '_' || v.Text[end] == '-') {
				end++
			}
			if (i == 0 || kinds[v.Text[i-1]] != aByte) && isKey(v.Text[i:], end-i, k.least) {
				a, b := v.Origin(i, end)
				j.find(quarantine.SecretValue, quarantine.Suspect, a, b)
			}
			i = end
		}
	}
}

// isKey tells whether n bytes are a key and no example of one.
func isKey(s string, n, least int) bool {
	if least == 0 {
		line, _, _ := strings.Cut(s, "\n")
		return strings.Contains(line, "PRIVATE KEY-----") && len(s) > 200
	}
	if n < least {
		return false
	}
	low := strings.ToLower(s[:n])
	for _, w := range []string{"example", "xxxx", "your", "sample", "dummy", "placeholder", "12345", "abcdef", "00000", "test"} {
		if strings.Contains(low, w) {
			return false
		}
	}
	seen, different := [256]bool{}, 0
	for i := range len(low) {
		if !seen[low[i]] {
			seen[low[i]] = true
			different++
		}
	}
	return different >= 10
}
