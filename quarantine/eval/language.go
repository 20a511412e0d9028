package eval

import (
	"strings"
	"unicode"
)

// Language is the item's: what it says, or a guess; of an attack inside of an
// honest text that of the attack, where it is known.
func (it *Item) Language() string {
	if it.Lang != "" {
		l, _, _ := strings.Cut(strings.ToLower(it.Lang), "-")
		if l == "english" {
			return "en"
		}
		return l
	}
	if it.Payload != "" {
		return guess(it.Payload)
	}
	return guess(it.Text)
}

// scripts are the languages that a script gives away, well enough for a table.
var scripts = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"ja", unicode.Hiragana}, {"ja", unicode.Katakana}, {"ko", unicode.Hangul}, {"zh", unicode.Han}, {"ru", unicode.Cyrillic},
	{"ar", unicode.Arabic}, {"he", unicode.Hebrew}, {"el", unicode.Greek}, {"th", unicode.Thai}, {"hi", unicode.Devanagari},
	{"bn", unicode.Bengali}, {"ta", unicode.Tamil},
}

// little are the small words that hold the text of a language together. The
// first language is taken where none has more.
var little = []struct{ name, words string }{
	{"en", "the of and to is in that for it with you this be are not from or as an by if must will all any your"},
	{"de", "der die das und ist nicht ein eine mit von zu den auf für im dem sie ich werden oder wie bei alle"},
	{"fr", "le les des une est et un du dans pour que qui pas sur avec vous ce au par plus ne votre"},
	{"es", "el los las una es y en de para que no con por se del lista archivo muestra como su"},
	{"pt", "o os uma um é e em para que não com por do da dos das arquivo seu como ao"},
	{"it", "il gli una è e di per che non con del della un lo sono comando mostra nel alla"},
	{"nl", "de het een en van voor niet met op zijn naar bestand te alle wordt"},
	{"pl", "nie na się do jest z w i oraz dla pliku przez wszystkie lub"},
	{"tr", "bir ve için ile bu dosya belirli tüm olarak"},
	{"id", "yang dan untuk dari dengan ini sebuah pada berkas dalam"},
	{"sv", "och att det som en är på för inte med av till ett fil"},
}

// byWord has bit n set where a word is one of the little words n.
var byWord = func() map[string]uint32 {
	m := map[string]uint32{}
	for n, l := range little {
		for w := range strings.FieldsSeq(l.words) {
			m[w] |= 1 << n
		}
	}
	return m
}()

// guess names the language of a text: by its script where one gives it away, else
// by its little words; English where nothing speaks against it.
func guess(text string) string {
	letters := 0
	counts := make([]int, len(scripts))
	for _, c := range text {
		if !unicode.IsLetter(c) {
			continue
		}
		letters++
		for i := range scripts {
			if c > 0x2af && unicode.Is(scripts[i].table, c) {
				counts[i]++
				break
			}
		}
	}
	best := 0
	for i, n := range counts {
		// Japanese has Han letters too: a few Kana decide
		if n*5 >= letters && n > 0 && (counts[best]*5 < letters || n > counts[best] && scripts[best].name != "ja") {
			best = i
		}
	}
	if counts[best] > 0 && counts[best]*5 >= letters {
		return scripts[best].name
	}
	return latin(text)
}

func latin(text string) string {
	counts := make([]int, len(little))
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) }) {
		for n, in := 0, byWord[w]; in != 0; n, in = n+1, in>>1 {
			counts[n] += int(in & 1)
		}
	}
	best := 0
	for n, c := range counts {
		if c >= 3 && c > counts[best] {
			best = n
		}
	}
	return little[best].name
}
