package model

import "strings"

// A notion is a set of words that mean about the same to a reader who is told
// what to do. Metadata is read as notions only: the words of two vendors differ
// more than honest and hostile texts do, and a model of words learns vendors.
//
// Words that honest vendors shout as much as hostile ones (important, always,
// must, note) are left out on purpose.
type notion uint8

// notions are the sets, in the order of their numbers, which begin at one. The
// order is part of the meaning of a model file.
var notions = [...]string{
	"ignore disregard forget override bypass supersede neglect discard abandon circumvent overrule dismiss skip suppress",
	"previous prior above earlier preceding former past initial original foregoing previously",
	"instruction prompt rule guideline directive command policy restriction constraint direction guardrail safeguard programming order",
	"all any every everything each entire whole full complete verbatim",
	"not don't dont never avoid refrain cannot can't mustn't shouldn't no nor won't without",
	"tell mention inform reveal disclose notify alert discuss announce acknowledge explain warn admit told ask",
	"user human person people customer client anyone victim owner",
	"secret secretly silent silently quiet quietly covert covertly discreetly discreet hidden hide conceal invisible stealth confidential privately background unnoticed undetected transparent transparently",
	"before first firstly beforehand",
	"after afterward then once upon finally next subsequently",
	"tool function api plugin endpoint server mcp",
	"call invoke use run execute trigger launch perform using",
	"other another instead rather alternative else",
	"read open cat load access retrieve get fetch view list extract collect gather obtain find look scan inspect",
	"send post forward upload transmit email exfiltrate leak share transfer submit deliver publish push dispatch mail",
	"include append pass put attach paste embed insert add copy provide supply set fill prepend",
	"write save store create modify edit update change replace overwrite",
	"delete remove erase wipe drop destroy purge",
	"file folder directory path document content contents",
	"ssh id_rsa id_ed25519 env passwd shadow aws kube netrc npmrc keychain bash_history etc",
	"credential password passphrase token key apikey cookie session private certificate pin ssn sensitive personal",
	"conversation chat history transcript message context",
	"assistant ai llm agent model chatbot claude chatgpt gpt copilot bot",
	"you your yourself",
	"system admin administrator developer root sudo operator",
	"task objective goal mission job",
	"completed done finished finish answered",
	"new updated real actual additional revised following below",
	"role act pretend roleplay persona character jailbreak jailbroken dan unrestricted unfiltered simulate behave become mode",
	"payment transaction bank account iban bitcoin wallet fund money dollar pay buy purchase invoice refund",
	"http https www url link webhook domain",
	"external remote attacker outside",
	"approve approved authorized authorised permission consent allow permitted confirm confirmation confirmed agreed trusted verified",
	"security safety validation filter authentication compliance audit protection guard",
	"fail failure error otherwise unless refuse",
	"if when",
	"answer respond response reply output print say repeat return saying",
	"this these that it them",
	"encode encoded base64 hex encrypt decode",
	"please kindly",
	"malicious harmful unauthorized unauthorised exploit attack steal manipulate disrupt",
	"knowledge aware awareness noticing knowing",
	"behalf",
	"for to",
	"me my i we us our",
	"will going want would",
	"can may",
	"is are be",
	"proceed continue proceeding continuing start begin",
	"default internal debug test legacy deprecated",
}

// Marks are notions that no word stands for.
const (
	markTag     notion = 101 + iota // < or [ before a capital letter or a slash
	markAt                          // @ in an address
	markHome                        // ~/
	markShell                       // $(
	markRoot                        // a path from the root
	markDot                         // a name that begins with a dot
	markIdent                       // a word with an underscore
	markOpening                     // the first word of a sentence is a notion
)

// byStem finds the notion of a word by the hash of its stem: open addressing,
// half empty. Zero is no notion.
var byStem = func() (t [2048]struct {
	hash   uint32
	notion notion
}) {
	for i, set := range notions {
		for w := range strings.FieldsSeq(set) {
			h := hash(w[:stem(w)])
			at := h % uint32(len(t))
			for t[at].notion != 0 && t[at].hash != h {
				at = (at + 1) % uint32(len(t))
			}
			t[at].hash, t[at].notion = h, notion(i+1)
		}
	}
	return t
}()

func notionOf(h uint32) notion {
	for at := h % uint32(len(byStem)); byStem[at].notion != 0; at = (at + 1) % uint32(len(byStem)) {
		if byStem[at].hash == h {
			return byStem[at].notion
		}
	}
	return 0
}

// stem is how many bytes of a word are kept: without what inflection adds.
// Coarse, and the same for lexicon and text.
func stem[T string | []byte](w T) int {
	n := len(w)
	if n > 4 {
		switch {
		case n > 4 && lower(w[n-3]) == 'i' && lower(w[n-2]) == 'n' && lower(w[n-1]) == 'g':
			n -= 3
		case lower(w[n-2]) == 'e' && (lower(w[n-1]) == 'd' || lower(w[n-1]) == 's'):
			n -= 2
		case lower(w[n-1]) == 's':
			n--
		}
	}
	if n > 3 && lower(w[n-1]) == 'e' {
		n--
	}
	return n
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}
