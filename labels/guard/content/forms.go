package content

import (
	"strings"
)

// A form is how one kind of credential is written: a beginning, and so many characters
// of an alphabet behind it. The beginnings are what their makers publish, so that
// scanners can find them.
type form struct {
	prefix   string
	min, max int // characters behind the prefix; max 0: no more than a few hundred
	chars    *[256]bool
	apart    bool // no letter or digit may stand before
	hex      bool // of small letters; for words are not told from it otherwise
}

func alphabet(s string) *[256]bool {
	var t [256]bool
	for i := range len(s) {
		t[s[i]] = true
	}
	return &t
}

const (
	lower = "abcdefghijklmnopqrstuvwxyz"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digit = "0123456789"
)

var (
	alnum   = alphabet(lower + upper + digit)
	word62  = alphabet(lower + upper + digit + "_")
	url64   = alphabet(lower + upper + digit + "_-")
	dotted  = alphabet(lower + upper + digit + "_-.")
	std64   = alphabet(lower + upper + digit + "+/=")
	base32  = alphabet(upper + "234567")
	capital = alphabet(upper + digit)
	hexes   = alphabet("abcdef" + digit)
	slack   = alphabet(lower + upper + digit + "-")
	path64  = alphabet(lower + upper + digit + "/_-")
)

var forms = []form{
	{prefix: "AKIA", min: 16, max: 16, chars: base32, apart: true}, {prefix: "ASIA", min: 16, max: 16, chars: base32, apart: true}, {prefix: "ABIA", min: 16, max: 16, chars: base32, apart: true}, {prefix: "ACCA", min: 16, max: 16, chars: base32, apart: true},
	{prefix: "ghp_", min: 36, chars: alnum}, {prefix: "gho_", min: 36, chars: alnum}, {prefix: "ghu_", min: 36, chars: alnum}, {prefix: "ghs_", min: 36, chars: alnum}, {prefix: "ghr_", min: 36, chars: alnum}, {prefix: "github_pat_", min: 60, chars: word62},
	{prefix: "glpat-", min: 20, chars: dotted}, {prefix: "gldt-", min: 20, chars: dotted}, {prefix: "glrt-", min: 20, chars: dotted}, {prefix: "glcbt-", min: 20, chars: dotted}, {prefix: "glptt-", min: 20, chars: dotted}, {prefix: "glft-", min: 20, chars: dotted}, {prefix: "glsoat-", min: 20, chars: dotted}, {prefix: "glimt-", min: 20, chars: dotted}, {prefix: "glagent-", min: 40, chars: dotted}, {prefix: "gloas-", min: 40, chars: dotted}, {prefix: "glffct-", min: 20, chars: dotted}, {prefix: "GR1348941", min: 20, chars: url64},
	{prefix: "xoxb-", min: 20, chars: slack}, {prefix: "xoxp-", min: 20, chars: slack}, {prefix: "xoxa-", min: 20, chars: slack}, {prefix: "xoxr-", min: 20, chars: slack}, {prefix: "xoxs-", min: 20, chars: slack}, {prefix: "xoxe.", min: 20, chars: dotted}, {prefix: "xapp-", min: 20, chars: slack}, {prefix: "hooks.slack.com/services/T", min: 30, chars: path64},
	{prefix: "sk-ant-", min: 40, chars: url64}, {prefix: "sk-proj-", min: 40, chars: url64}, {prefix: "sk-svcacct-", min: 40, chars: url64}, {prefix: "sk-or-v1-", min: 40, chars: hexes}, {prefix: "sk-", min: 40, chars: alnum, apart: true}, {prefix: "sk_live_", min: 20, chars: alnum}, {prefix: "rk_live_", min: 20, chars: alnum}, {prefix: "whsec_", min: 28, chars: std64},
	{prefix: "AIza", min: 35, max: 35, chars: url64, apart: true}, {prefix: "ya29.", min: 40, chars: dotted, apart: true}, {prefix: "GOCSPX-", min: 24, chars: url64},
	{prefix: "npm_", min: 36, max: 36, chars: alnum}, {prefix: "pypi-AgE", min: 50, chars: url64}, {prefix: "rubygems_", min: 48, chars: hexes}, {prefix: "dckr_pat_", min: 24, chars: url64}, {prefix: "dckr_oat_", min: 24, chars: url64}, {prefix: "hf_", min: 34, chars: alnum, apart: true}, {prefix: "crates_", min: 32, chars: alnum}, {prefix: "cio", min: 32, max: 32, chars: alnum, apart: true}, {prefix: "oy2", min: 43, max: 43, chars: alphabet(lower + digit), apart: true},
	{prefix: "SG.", min: 60, chars: dotted, apart: true}, {prefix: "dop_v1_", min: 64, chars: hexes}, {prefix: "doo_v1_", min: 64, chars: hexes}, {prefix: "shpat_", min: 32, chars: hexes}, {prefix: "shpss_", min: 32, chars: hexes}, {prefix: "shpca_", min: 32, chars: hexes}, {prefix: "sq0atp-", min: 22, chars: url64}, {prefix: "sq0csp-", min: 40, chars: url64},
	{prefix: "glsa_", min: 36, chars: word62}, {prefix: "glc_", min: 40, chars: std64}, {prefix: "hvs.", min: 24, chars: url64, apart: true}, {prefix: "hvb.", min: 24, chars: url64, apart: true}, {prefix: "s.", min: 24, max: 24, chars: alnum, apart: true, hex: true}, {prefix: "atlasv1.", min: 60, chars: url64}, {prefix: ".atlasv1.", min: 60, chars: url64}, {prefix: "dapi", min: 32, max: 32, chars: hexes, apart: true},
	{prefix: "LTAI", min: 20, chars: alnum, apart: true}, {prefix: "AKID", min: 32, max: 32, chars: alnum, apart: true}, {prefix: "PMAK-", min: 50, chars: slack}, {prefix: "lin_api_", min: 40, chars: alnum}, {prefix: "figd_", min: 40, chars: url64}, {prefix: "ntn_", min: 40, chars: alnum}, {prefix: "secret_", min: 43, max: 43, chars: alnum}, {prefix: "pul-", min: 40, chars: hexes, apart: true}, {prefix: "sntrys_", min: 60, chars: std64}, {prefix: "sntryu_", min: 60, chars: hexes}, {prefix: "nvapi-", min: 60, chars: url64}, {prefix: "gsk_", min: 50, chars: alnum}, {prefix: "r8_", min: 37, chars: alnum, apart: true}, {prefix: "xai-", min: 70, chars: alnum, apart: true}, {prefix: "tskey-", min: 24, chars: slack}, {prefix: "fo1_", min: 40, chars: url64}, {prefix: "fm2_", min: 60, chars: std64, apart: true}, {prefix: "EAACEdEose0cBA", min: 20, chars: alnum}, {prefix: "AccountKey=", min: 80, chars: std64}, {prefix: "SharedAccessKey=", min: 40, chars: std64}, {prefix: "AGE-SECRET-KEY-1", min: 58, chars: capital}, {prefix: "AGE-PLUGIN-", min: 80, chars: slack}, {prefix: "ops_eyJ", min: 100, chars: url64}, {prefix: "CFPAT-", min: 40, chars: url64}, {prefix: "ATATT3xFfGF0", min: 100, chars: alphabet(lower + upper + digit + "_-=")}, {prefix: "ATCTT3xFfGF0", min: 60, chars: alphabet(lower + upper + digit + "_-=")}, {prefix: "bkua_", min: 40, chars: hexes}, {prefix: "dt0c01.", min: 80, chars: dotted},
}

// pairs tells by two bytes whether something begins with them, byPair and groups what:
// indexes of forms, and negative numbers for beginnings.
var (
	pairs  [1 << 10]uint64 // a set of bits
	byPair [1 << 16]uint8
	groups [][]int
)

func init() {
	add := func(prefix string, n int) {
		k := uint16(prefix[0])<<8 | uint16(prefix[1])
		if pairs[k>>6]&(1<<(k&63)) == 0 {
			pairs[k>>6] |= 1 << (k & 63)
			byPair[k] = uint8(len(groups))
			groups = append(groups, nil)
		}
		groups[byPair[k]] = append(groups[byPair[k]], n)
	}
	for i := range forms {
		add(forms[i].prefix, i)
	}
	for i, p := range beginnings {
		add(p, -1-i)
	}
	for k := range twos {
		if twos[k] = classes[k&0xff]; pairs[k>>6]&(1<<(k&63)) != 0 {
			twos[k] |= isBeginning
		}
	}
}

// tokens finds credentials by their form, in a text as it is and where it is cut into
// pieces that are put together again.
func tokens(s string, f func(from, to int, pieces bool)) {
	if len(s) < 2 {
		return
	}
	last := -1
	prev := uint16(s[0])
	for i := 1; i < len(s); i++ {
		prev = prev<<8 | uint16(s[i])
		if pairs[prev>>6]&(1<<(prev&63)) == 0 || i-1 < last {
			continue
		}
		for _, n := range groups[byPair[prev]] {
			if n < 0 {
				continue // known by what it is made of: see structured
			}
			if end, pieces := forms[n].at(s, i-1); end > 0 {
				f(i-1, end, pieces)
				last = end
				break
			}
		}
	}
}

// maxPieces is how many pieces of a credential are put together.
const maxPieces = 12

// at is where a credential that begins at i ends; 0: there is none.
func (f *form) at(s string, i int) (end int, pieces bool) {
	if !strings.HasPrefix(s[i:], f.prefix) || f.apart && i > 0 && (alnum[s[i-1]] || s[i-1] == '_') {
		return 0, false
	}
	j := i + len(f.prefix)
	limit := 512
	if f.max > 0 {
		limit = f.max
	}
	var b [512]byte
	n := 0
	for range maxPieces {
		for j < len(s) && n < limit && f.chars[s[j]] {
			b[n] = s[j]
			n++
			j++
		}
		if n >= f.min || n >= limit {
			break
		}
		next := joint(s, j)
		if next == 0 || !f.chars[s[next]] {
			break
		}
		j, pieces = next, true
	}
	if n < f.min || f.max > 0 && j < len(s) && f.chars[s[j]] && !pieces || !credible(string(b[:min(n, f.min)]), f.hex) {
		return 0, false
	}
	return j, pieces
}

// joint is where a text goes on that is interrupted at i as programs and files interrupt
// texts: by quotes and an operator, by the end of a line; 0: nowhere.
func joint(s string, i int) int {
	broken := false
	j := i
	for ; j < len(s) && j-i < 40; j++ {
		switch s[j] {
		case '"', '\'', '`', '\n', '\\':
			broken = true
		case ' ', '\t', '\r', '+', '&', ',', '.':
			if !broken && s[j] != ' ' && s[j] != '\t' && s[j] != '\r' {
				return 0
			}
		default:
			if !broken {
				return 0
			}
			return j
		}
	}
	return 0
}

// standIns are parts of the credentials that documentation and tests make up. That
// random characters come to one of them does not happen; that somebody puts one into a
// real credential is an encoding like any other that nobody knows.
var standIns = []string{"EXAMPLE", "example", "xxxxx", "XXXXX", "00000", "your", "YOUR", "redacted", "REDACTED", "mock", "dummy", "fake", "sample", "test", "TEST", "secret", "token", "TOKEN", "12345", "56789", "abcdef", "ABCDEF", "aaaaa", "AAAAA"}

// credible tells whether the characters of a credential could be random.
func credible(s string, mixed bool) bool {
	for _, w := range standIns {
		if strings.Contains(s, w) {
			return false
		}
	}
	var seen [256]bool
	distinct, digits, uppers, lowers := 0, 0, 0, 0
	for i := range len(s) {
		c := s[i]
		if !seen[c] {
			seen[c] = true
			distinct++
		}
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			uppers++
		case c >= 'a' && c <= 'z':
			lowers++
		}
	}
	if mixed && (digits < 2 || uppers < 2 || lowers < 2) {
		return false
	}
	return distinct >= 7 && (digits > 0 || uppers > 0 && lowers > 0)
}
