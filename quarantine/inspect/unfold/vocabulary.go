package unfold

import "strings"

// longestWord is the length of the longest word that is looked up.
const longestWord = 16

// common are frequent words of English, and the words of orders: by them a text
// that is read backwards, shifted or put together again is known to be one.
const common = `
the and for are but not you all any can had her was one our out day get has him his how man new now old see two way who boy did its let put say
she too use that with have this will your from they know want been good much some time very when come here just like long make many more only
over such take than them well were what there their would about other which could these after first never where those being before should
because between through while another without please always must then also into each even most must shall every under again against
ignore ignoring disregard forget override bypass previous prior above earlier following below instruction instructions prompt prompts rule rules
guideline guidelines system message messages user users assistant agent model tool tools function functions call calls calling invoke execute
run running send sends sending read reads reading write writes writing post posts upload uploads download forward email emails mail file files
folder path content contents password passwords secret secrets token tokens key keys private credential credentials config configuration environment
variable variables data database information conversation history chat context response output result results return returns reply answer question
tell mention inform reveal show print repeat say says do does don done not never important critical urgent warning note security policy compliance
required require requires mandatory necessary immediately silently secretly hidden include included append attach add added parameter parameters argument
value values string number name names list lists create creates delete deletes update updates remove search find fetch get gets set sets open close
access account accounts address admin administrator api app application approve approved ask authorized authentication bank transfer payment pay money
balance book booking buy change channel channels check click code command commands complete completed confirm connect copy current customer debug decode
detail details directory disable display document documents enable encode error event events external extract general help host html http https image
input install instead internal item items line link local location log login logs memory mode month network notify number object order orders package page
payload people permission person phone picture place process product profile project provide public purpose query record records recipient remember
replace replacement report request requests reservation resource review root save script sentence server service session setting settings share shell
site skip slack source start status step stop store submit summary support task tasks team test text their thing things title today tomorrow translate
travel true false type update url validate verify version view visit website week word words work world year yes
paragraph concatenate negative positive offensive discriminatory harmful women men religion about statement chinese english language translation
enhanced provides additional scanning operations wraps underlying capability enterprise audit logging haha pwned random hello
`

// words are the common ones.
var words = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(common) {
		m[w] = true
	}
	return m
}()

// shifted and turned are the common words of three letters and more as they look
// thirteen letters further, and backwards: without those that are words as well.
var shifted, turned = func() (r, t map[string]bool) {
	r, t = map[string]bool{}, map[string]bool{}
	for w := range words {
		if len(w) < 3 {
			continue
		}
		if x := rot13(w); !words[x] {
			r[x] = true
		}
		if x := turn(w); !words[x] {
			t[x] = true
		}
	}
	return r, t
}()

// starts has bit 1 for three letters that begin a shifted word and bit 2 for
// those that begin a turned one, where no common word begins so, and bit 4 for
// those that begin a common word: a few such words are worth a closer look.
var starts = func() (t [26 * 26 * 26]byte) {
	number := func(w string) int { return int(w[0]-'a')*676 + int(w[1]-'a')*26 + int(w[2]-'a') }
	for w := range shifted {
		t[number(w)] |= 1
	}
	for w := range turned {
		t[number(w)] |= 2
	}
	for w := range words {
		if len(w) >= 3 {
			t[number(w)] = 4
		}
	}
	return t
}()

// vocabulary counts the common words of a text, each once.
func vocabulary(s string) int {
	seen := map[string]bool{}
	each(s, func(w []byte, from, to int) {
		if len(w) >= 3 && words[string(w)] {
			seen[string(w)] = true
		}
	})
	return len(seen)
}

// each gives the words of a text, letters and digits, in small letters; w is
// valid during the call only, which may change it.
func each(s string, do func(w []byte, from, to int)) {
	var buf [longestWord]byte
	for i := 0; i < len(s); {
		if classes[s[i]]&wordByte == 0 {
			i++
			continue
		}
		from := i
		for i < len(s) && classes[s[i]]&wordByte != 0 {
			if i-from < len(buf) {
				buf[i-from] = s[i]
				if classes[s[i]]&upperByte != 0 {
					buf[i-from] |= 0x20
				}
			}
			i++
		}
		if i-from <= len(buf) {
			do(buf[:i-from], from, i)
		}
	}
}

func rot13(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return 'a' + (c-'a'+13)%26
		case c >= 'A' && c <= 'Z':
			return 'A' + (c-'A'+13)%26
		}
		return c
	}, s)
}
