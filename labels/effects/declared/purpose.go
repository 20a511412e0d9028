package declared

import "strings"

// A purpose is what a tool, or a server, says it is for.
type purpose struct {
	words []string // its reasons
	about string   // what it is plainly about, where that needs nobody's data; empty: nothing such
	serve bool     // that is a service which may want a key of its own
	pure  bool     // that works on what it is given, and gives it back
}

// purposeOf reads what a tool is for out of its name, its title and the beginning of
// its description: whoever asks for something says so further on.
func purposeOf(t *Tool) purpose {
	return purposeIn(t.Name, t.Title, t.Description)
}

// purposeOfOrigin reads it out of what a server says.
func purposeOfOrigin(o *Origin) purpose {
	return purposeIn(o.Name, o.Title, o.Instructions)
}

func purposeIn(name, title, text string) purpose {
	p := purpose{words: append(wordsOf(name), wordsOf(title)...)}
	head := headOf(text)
	p.find(p.words, head)
	for _, w := range head {
		if !generic[w] {
			p.words = append(p.words, w)
		}
	}
	return p
}

// find finds what the texts are plainly about: the first subject that is named.
func (p *purpose) find(texts ...[]string) {
	for _, words := range texts {
		for i, w := range words {
			for k := range subjects {
				if s := &subjects[k]; s.words.has(w) || s.phrases.at(words, i) > 0 {
					p.about, p.serve, p.pure = s.about, s.serve, !s.serve
					return
				}
			}
		}
	}
}

// headOf are the words of the first sentence of a text, up to where it begins to
// say with what, after what or on what condition.
func headOf(text string) []string {
	text = firstSentence(text)
	words := wordsOf(text)
	for i, w := range words {
		if turns[w] && (i > 0 || wants[w]) && !(w == "with" && i > 0 && helps[words[i-1]]) {
			return words[:i]
		}
	}
	return words
}

// firstSentence is a text up to its first end of a sentence, but for headings and
// empty lines before it.
func firstSentence(text string) string {
	text = strings.TrimLeft(text, " \t\r\n#*-=\"'`>")
	for i := 0; i < len(text) && i < longestText; i++ {
		switch c := text[i]; {
		case c == '\n' && i+1 < len(text) && text[i+1] == '\n', c == ';', c == '!', c == '?':
			return text[:i]
		case c == '.' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' || text[i+1] == '\r' || text[i+1] == '\t'):
			if i > 2 && (strings.HasSuffix(text[:i], "e.g") || strings.HasSuffix(text[:i], "i.e")) {
				continue
			}
			return text[:i]
		}
	}
	return text
}

// turns are words behind which a sentence says no more what a tool is for.
var turns = wordSet(`using with requires require requiring need needs needing given provided provide providing once after before if when because
	based verifying verified by unless upon supply supplied supplying include includes including collect collects collecting pass passing plus`)

// wants are those of them that begin a sentence about what has to be given, helps the
// verbs that "with" belongs to.
var (
	wants = wordSet("require need provide supply collect")
	helps = wordSet("help work deal assist interact cope connect communicate")
)

// generic are words that say nothing of a purpose where they stand in a sentence.
var generic = wordSet(`user account client service app application server request file api data key code system project page local host
	name value start run list person people customer member profile record get search address message share agent model assistant
	home time order test check number document image person's build create update delete set use content contents text session`)

// A subject is what a tool can be about that needs no data of anybody.
type subject struct {
	about   string
	serve   bool // mostly it is a service elsewhere
	words   vocabulary
	phrases phrases
}

var subjects = []subject{
	{"the weather", true, vocab("weather forecast* temperature* humidity rainfall precipitation meteorolog* climate"), nil},
	{"arithmetic", false, vocab("arithmetic calculator multiply multiplies divide divides subtract* addition fibonacci factorial prime primes sqrt logarithm* equation* matrix matrices polynomial* trigonometr* algebra* math maths mathematic* sum sums average averages median percent*"), phraseList("two_number of_number list_of_number add_number")},
	{"the time", false, vocab("timezone* clock stopwatch timestamp* countdown weekday* leap holiday*"), nil},
	{"units or currencies", true, vocab("currenc* exchange celsius fahrenheit kilomet* mile miles inch inches unit units"), nil},
	{"words and languages", true, vocab("dictionar* synonym* antonym* thesaurus definition* defin* spell* grammar* translat* rhyme* rhymes etymolog* anagram* proverb*"), nil},
	{"jokes and trivia", true, vocab("joke* jokes quote quotes quotation* trivia riddle* meme* memes fun dice coin coins random* lorem pun puns fortune ascii haiku"), nil},
	{"the form of texts", false, vocab("prettif* beautif* lint linter lints formatter formats reformat* json yaml xml toml csv markdown regex* uuid uuids slug* slugify base64 hex md5 sha256 checksum* minif* capitali* uppercase lowercase diff diffs indent* reverses palindrome* wordcount"), nil},
	{"pictures and colours", false, vocab("color* colour* palette* thumbnail* resize* crop crops emoji* barcode* qr qrcode* chart charts plot plots diagram* mermaid icon icons watermark* grayscale"), nil},
	{"reference works", true, vocab("wikipedia encyclop* documentation docs readme changelog* arxiv bibliograph* isbn poem poems poetry library libraries museum* artwork*"), nil},
	{"news and entertainment", true, vocab("news headline* movie* film films song songs lyric* podcast* recipe* chess score scores football soccer nba nfl anime tvshow* game games puzzle* sudoku crossword*"), nil},
	{"markets", true, vocab("stock stocks ticker* commodit* bitcoin ethereum cryptocurrenc* nasdaq"), nil},
	{"nature", true, vocab("planet* constellation* astronom* moon sunrise* sunset* tide tides earthquake* animal* dog dogs cat cats bird* species volcano* periodic element elements galaxy asteroid*"), nil},
}
