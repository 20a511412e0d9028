package declared

import (
	"cmp"
	"slices"
	"strings"
)

// asked is what a leaf asks for, and where it does; nil: nothing of any class. Name,
// form and pattern say it best, then title and description.
func asked(l *Leaf, budget *int) (c *class, at int) {
	if c := askedByName(l); c != nil || l.Enum {
		return c, l.At
	}
	for _, by := range [...]struct {
		said []Said
		is   func(text string) *class
	}{
		{l.Formats, func(text string) *class { return formats[strings.ToLower(text)] }},
		{l.Patterns, func(text string) *class { return askedByPattern(text, budget) }},
		{l.Titles, func(text string) *class { return nounOf(wordsOf(text), true) }},
		{l.Descriptions, askedByText},
	} {
		for _, s := range by.said {
			if c := by.is(s.Text); c != nil {
				return c, s.At
			}
		}
	}
	return nil, l.At
}

var formats = func() map[string]*class {
	m := map[string]*class{}
	for _, c := range classes {
		for f := range strings.FieldsSeq(c.formats) {
			m[f] = c
		}
	}
	return m
}()

// askedByName reads the name of a leaf, together with that of what it is in where it
// says little alone: passport.number.
func askedByName(l *Leaf) *class {
	words := wordsOf(l.Name)
	if len(words) == 0 {
		return nil
	}
	if l.Enum {
		c := nounOf(words, false)
		if c != nil && (c.name == Belief || c.name == Health) { // few values say enough
			return c
		}
		return nil
	}
	if c := nounOf(words, false); c != nil {
		return c
	}
	if l.Above != "" && len(words) == 1 && carriers[words[0]] {
		return nounOf(append(wordsOf(l.Above), words...), false)
	}
	return nil
}

// nounOf finds the class of a name or title: a phrase of one, behind words that say
// whose or which, and before words that carry it. password_length is a length.
func nounOf(words []string, text bool) *class {
	for i := range words {
		if i > 0 && (switches[words[i-1]] || text && !modifiers[words[i-1]]) {
			return nil
		}
		if c := phraseOf(words, i, func(c *class, n int) bool { return carried(words[i+n:], c) }); c != nil {
			return c
		}
	}
	return nil
}

// carried tells whether the words behind a phrase leave it what is asked for.
func carried(rest []string, c *class) bool {
	for _, w := range rest {
		if !carriers[w] && !digits(w) || w == "id" && !idCarries[c.name] {
			return false
		}
	}
	return true
}

func digits(w string) bool {
	for i := range len(w) {
		if w[i] < '0' || w[i] > '9' {
			return false
		}
	}
	return true
}

// carriers are words behind a phrase that name its form.
var carriers = wordSet(`number no nr num id code value text string data info information detail details content contents full raw plain plaintext json csv b64
	base64 hex dump export copy scan photo image pdf file path list history input field blob pem in clear line 1 2 token key document doc status
	record report log entry entries output jar header secret hash mrz country expiry`)

// idCarries are the classes that a name ends in id of; of all others it names a
// record.
var idCarries = map[Class]bool{NationalID: true, Passport: true, Licence: true, Device: true, Session: true}

// switches are words before a phrase that make it something to choose, not to give.
var switches = wordSet(`has have is no not require required with without use show include hide enable disable allow min max count num skip need
	generate random force validate per by total supports`)

// modifiers are words that say whose something is, or which.
var modifiers = wordSet(`the a an your user my our their his her this that valid current full complete entire whole raw exact real actual own private personal
	account customer client caller optional required plain plaintext all any every each recent previous prior last latest saved stored of s home
	government issued legal primary main new old first second active working international national mobile existing unencrypted decrypted local
	long lived short same corresponding associated matching person traveller passenger holder guest patient employee owner sender buyer
	stripe github gitlab aws openai google azure slack cloud`)

// askedByText reads a description: what it begins with, and what it orders to be
// given.
func askedByText(text string) *class {
	if text == "" {
		return nil
	}
	for n := 0; text != "" && n < maxSentences; n++ {
		s := firstSentence(text)
		rest := text[min(len(text), strings.Index(text, s)+len(s)):]
		text = strings.TrimLeft(rest, ".;!? \t\r\n")
		words := clausesOf(s)
		if denied(words) {
			continue
		}
		if n == 0 {
			if c := headNoun(words); c != nil {
				return c
			}
		}
		if c := ordered(words); c != nil {
			return c
		}
	}
	return nil
}

// maxSentences bounds the sentences of one description that are read.
const maxSentences = 512

// headNoun is the class of what a sentence begins with: "Your passport number, for
// the booking".
func headNoun(words []string) *class {
	for i, w := range words {
		if c := phraseAt(words, i); c != nil {
			return c
		}
		if !modifiers[w] && !(carriers[w] && i+1 < len(words) && words[i+1] == "of") {
			break
		}
	}
	return nil
}

// ordered is the class of what a sentence orders to be given.
func ordered(words []string) *class {
	for i, w := range words {
		if !orders[w] {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+orderReach; k++ {
			if c := phraseAt(words, k); c != nil {
				return c
			}
			if !modifiers[words[k]] && !carriers[words[k]] && !fillers[words[k]] {
				break
			}
		}
	}
	return nil
}

// orderReach is how many words behind an order what is to be given begins.
const orderReach = 8

// orders are verbs by which a description has something given.
var orders = wordSet(`paste provide enter supply put pass attach give insert append dump submit fill upload include contain send copy add must should share reveal
	hand place state specify`)

// fillers may stand between an order and what is to be given.
var fillers = wordSet(`be in here with to you for it also and as at least well is from into together set must should contain include hold have it's text , name`)

// phraseAt is the class of the phrase that begins at word i, if the words behind it
// leave it what is spoken of.
func phraseAt(words []string, i int) *class {
	if i >= len(words) {
		return nil
	}
	return phraseOf(words, i, func(_ *class, n int) bool {
		if n == 1 && vague[words[i]] {
			return false
		}
		k := i + n
		for k < len(words) && carriers[words[k]] {
			k++
		}
		return k == len(words) || ends[words[k]]
	})
}

// phraseOf is the first class of which a phrase begins at word i that fits.
func phraseOf(words []string, i int, fits func(c *class, n int) bool) *class {
	for _, p := range begins[words[i]] {
		if n := len(p.words); i+n <= len(words) && slices.Equal(p.words, words[i:i+n]) && fits(p.class, n) {
			return p.class
		}
	}
	return nil
}

// begins are the phrases of all classes by their first word, in the order of the
// classes, longer ones first.
var begins = func() map[string][]phraseOfClass {
	m := map[string][]phraseOfClass{}
	for _, c := range classes {
		for first, list := range c.phrases {
			list = slices.Clone(list)
			slices.SortFunc(list, func(a, b []string) int { return cmp.Or(len(b)-len(a), slices.Compare(a, b)) })
			for _, w := range list {
				m[first] = append(m[first], phraseOfClass{c, w})
			}
		}
	}
	return m
}()

type phraseOfClass struct {
	class *class
	words []string
}

// vague are phrases of one word that mean too many things in a sentence.
var vague = wordSet("pass pat bearer secret cookie mail tel dni sin bsn faith diagnosis symptom medication prescription allergy tan environ clipboard inbox jwt mobile credential otp wage income salary")

// ends are words behind which a noun is over.
var ends = wordSet(`of for in to on at from used as so or and that which is are was if when with by into here where who whose must should will can may e your the
	you user issued including like such optional required before after needed because whose while it without ,`)

// denied tells whether a sentence says what is not to be given, or whether.
func denied(words []string) bool {
	for i, w := range words {
		if i < 12 && denials[w] || w == "whether" {
			return true
		}
	}
	return false
}

var denials = wordSet("not never don dont without avoid cannot no redact redacted masked except")
