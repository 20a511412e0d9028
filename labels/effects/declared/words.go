package declared

import "strings"

// longestText is how many bytes of a text are read for words. What is behind is
// for the inspector, which reads everything.
const longestText = 32 << 10

// maxWords bounds the words that are taken of one text.
const maxWords = 8192

// wordsOf takes a text apart at whatever is no letter or digit, and at humps, into
// lower case. A plural is read as its singular.
func wordsOf(text string) []string { return parted(text, singular, false) }

// clausesOf does the same, with a comma where a clause ends.
func clausesOf(text string) []string { return parted(text, singular, true) }

// rawWordsOf does the same and leaves plurals.
func rawWordsOf(text string) []string {
	return parted(text, func(w string) string { return w }, false)
}

func parted(text string, form func(string) string, commas bool) []string {
	if len(text) > longestText {
		text = text[:longestText]
	}
	var out []string
	start := -1
	end := func(at int) {
		if start >= 0 && at > start && len(out) < maxWords {
			out = append(out, form(strings.ToLower(text[start:at])))
			if n := len(out); n > 1 && joined[out[n-1]][out[n-2]] {
				out[n-2] += out[n-1]
				out = out[:n-1]
			}
		}
		start = -1
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case upper(c):
			if i > 0 && start >= 0 && (!upper(text[i-1]) || i+1 < len(text) && lower(text[i+1]) && !pluralEnd(text, i+1)) {
				end(i)
			}
			if start < 0 {
				start = i
			}
		case lower(c), c >= '0' && c <= '9', c >= 0x80:
			if start < 0 {
				start = i
			}
		case c == '\'' && i+1 < len(text) && text[i+1] == 's' && (i+2 == len(text) || !letter(text[i+2])):
			end(i)
			i++ // 's
		default:
			end(i)
			if n := len(out); commas && n > 0 && n < maxWords && out[n-1] != "," && strings.IndexByte(",:()[]", c) >= 0 {
				out = append(out, ",")
			}
		}
	}
	end(len(text))
	return out
}

// joined are words that are written apart, or with a hump, and are one: by their
// second half, with the first ones.
var joined = map[string]map[string]bool{
	"hub": wordSet("git"), "lab": wordSet("git"), "ai": wordSet("open"), "pal": wordSet("pay"), "tube": wordSet("you"), "flare": wordSet("cloud"),
	"in": wordSet("log logs logging sign signs"), "up": wordSet("sign signs"), "on": wordSet("sign"),
}

// pluralEnd tells whether a small s ends a word of capitals: URLs, IDs.
func pluralEnd(text string, i int) bool {
	return text[i] == 's' && (i+1 == len(text) || !letter(text[i+1]))
}

func upper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func lower(c byte) bool  { return c >= 'a' && c <= 'z' }
func letter(c byte) bool { return upper(c) || lower(c) }

// singular is a word without the s of a plural.
func singular(w string) string {
	n := len(w)
	if one := plurals[w]; one != "" {
		return one
	}
	switch {
	case n < 4 || w[n-1] != 's' || keepS[w]:
		return w
	case strings.HasSuffix(w, "ies") && n > 4:
		return w[:n-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		return w[:n-2]
	case w[n-2] == 's', w[n-2] == 'u', w[n-2] == 'i':
		return w
	}
	return w[:n-1]
}

// plurals are those of words that end in ie.
var plurals = map[string]string{"cookies": "cookie", "movies": "movie", "selfies": "selfie", "calories": "calorie", "species": "species"}

// keepS are words that end in an s and are no plurals.
var keepS = wordSet("address access gps sms aws dns tls https news ios kubernetes aids diabetes sales works always does this was has process diagnosis cross series")

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// A vocabulary is a set of words, of which some stand for all that begin with them.
type vocabulary struct {
	words map[string]bool
	stems map[string]bool // by their text, of stemSizes bytes
}

// shortestStem and longestStem bound the stems of vocabularies.
const shortestStem, longestStem = 3, 13

// vocab reads lists of words; one that ends in * is a stem.
func vocab(lists ...string) vocabulary {
	v := vocabulary{words: map[string]bool{}, stems: map[string]bool{}}
	for _, l := range lists {
		for w := range strings.FieldsSeq(l) {
			if s, ok := strings.CutSuffix(w, "*"); ok {
				v.stems[s] = true
			} else {
				v.words[singular(w)] = true
			}
		}
	}
	return v
}

// has tells whether a word is in the vocabulary.
func (v vocabulary) has(w string) bool {
	if v.words[w] {
		return true
	}
	for n := shortestStem; n <= longestStem && n <= len(w); n++ {
		if v.stems[w[:n]] {
			return true
		}
	}
	return false
}

// any tells whether one of the words is in the vocabulary.
func (v vocabulary) any(words []string) bool {
	for _, w := range words {
		if v.has(w) {
			return true
		}
	}
	return false
}

// phrases are sequences of words by their first.
type phrases map[string][][]string

// phraseList reads phrases: words joined by "_", phrases parted by blanks.
func phraseList(s string) phrases {
	p := phrases{}
	for f := range strings.FieldsSeq(s) {
		words := strings.Split(f, "_")
		for i, w := range words {
			words[i] = singular(w)
		}
		p[words[0]] = append(p[words[0]], words)
	}
	return p
}

// at is how many words from i on are a phrase, the longest one; 0: none is.
func (p phrases) at(words []string, i int) (n int) {
	for _, ph := range p[words[i]] {
		if len(ph) <= n || i+len(ph) > len(words) {
			continue
		}
		same := true
		for k := 1; k < len(ph) && same; k++ {
			same = words[i+k] == ph[k]
		}
		if same {
			n = len(ph)
		}
	}
	return n
}
