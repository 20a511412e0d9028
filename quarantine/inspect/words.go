package inspect

import "strings"

// A part is what a word can do in a rule; a class is a set of parts.
type part uint8

type class [2]uint64

func (p part) class() (c class) {
	c[p>>6] = 1 << (p & 63)
	return c
}

func (c class) or(d class) class { return class{c[0] | d[0], c[1] | d[1]} }
func (c class) has(d class) bool { return c[0]&d[0]|c[1]&d[1] != 0 }
func (c class) none() bool       { return c[0]|c[1] == 0 }

// parts is the class of several.
func parts(list ...part) (c class) {
	for _, p := range list {
		c = c.or(p.class())
	}
	return c
}

const (
	cIgnore part = iota
	cPrior
	cAbove // of these, what was said before
	cAll   // and with it what is everything or the reader's
	cInstr
	cTold // of these, what a model is told
	cNot
	cDo
	cNever
	cTell
	cUser
	cThis
	cIt
	cBefore
	cUse
	cCalled
	cTool
	cOther
	cMove   // verbs that carry content: read, include, pass, send
	cSend   // of these, the ones that carry it away
	cCarry  // of these, the ones that put something into a call
	cCopy   // a copy of something, openly or not
	cSteal  // verbs that have no honest use
	cSecret // places of secrets: ~/.ssh, id_rsa
	cSoft   // places of secrets that are read for honest reasons as well
	cAsset  // what is worth stealing: credentials, passwords, keys
	cData   // what else is: messages, contacts, files
	cTalk   // conversation, chat, history, prompt
	cLog    // what is kept of it
	cWhole  // full, entire, all
	cRest   // duration, remainder
	cSession
	cFuture
	cKeep // save, store, remember
	cNote // note, message, instruction
	cFor
	cAI // assistant, agent, model
	cSilent
	cMust
	cFirst
	cAlways
	cIdent // a name with an underscore
	cURL
	cAddress // of a mailbox
	cTag     // <important>, <|im_start|>
	cSquare  // [system]
	cHead    // [SYSTEM MONITOR], **HIDDEN**
	cSys     // SYSTEM: at the start of a line
	cSystem
	cDirective
	cWithout
	cKnow
	cConfirm
	cReveal
	cHidden // system, hidden, initial: before prompt
	cPrompt
	cNew
	cTask
	cDone
	cYou
	cAre
	cRole
	cJail
	cMode
	cGuard // security, safety, approval
	cOff   // suspended, disabled
	cInstead
	cOf
	cFail
	cSo
	cApproved
	cOrder // call, post, send, execute, run: what a text tells its reader to do
	cPrec
	cOver
	cMsg
	cPretext // mandatory, compliance: why it must be done
	cStep
	cUntil
	cWork
	cUnlock
	cCurl
	cSubst // a command in $( )
	cNeeded
	cInit
	cOverridden
	cStand // standing, persistent: of rules
	cAct
	cAs
	cInto
	cReads // reads, uploads: what a tool says of itself
	cUploads
	cDump
	cEvil
	cPrefer
	cWhen
	cHiddenFile // /tmp/.name
	cKept       // logged, stored, cached
	cRemote
	cNein  // not, in languages that put it before the verb
	cDigas // tell
	cUsuario
	cSide // a parameter that takes any text
	cLast
)

// dictionary is the words by part. A word may have several.
var dictionary = map[part]string{
	cIgnore:     "ignore ignoring disregard disregarding forget override overrides overriding bypass supersede supersedes neglect discard abandon ignoriere ignorieren ignoriert vergiss missachte ignora ignorar ignorad ignorez olvida olvide oublie oubliez dimentica esqueca esquece",
	cPrior:      "previous previously prior above earlier preceding all any other existing original foregoing your these initial past former everything system safety subsequent following alle vorherigen vorherige bisherigen obigen todas todos toutes tous tutte",
	cAbove:      "previous prior above earlier preceding original foregoing vorherigen bisherigen obigen anteriores previas precedentes precedenti",
	cAll:        "previous previously prior above earlier preceding all your past former everything system safety subsequent following",
	cInstr:      "instruction instructions prompt prompts rule rules guideline guidelines directive directives command commands policy policies restriction restrictions constraint constraints directions context guardrails safeguards programming anweisungen instruktionen vorgaben instrucciones indicaciones consignes instrucoes istruzioni",
	cTold:       "instruction instructions prompt prompts guideline guidelines directive directives guardrails safeguards anweisungen instruktionen vorgaben instrucciones indicaciones consignes instrucoes istruzioni",
	cNot:        "not dont never avoid refrain cannot mustnt shouldnt",
	cDo:         "do must should shall may please",
	cNever:      "never dont avoid refrain mustnt shouldnt",
	cTell:       "tell mention inform reveal disclose notify alert report telling mentioning mentioned informing revealing disclosing disclosed notifying alerting reporting discuss",
	cUser:       "user users human humans anyone victim customer customers",
	cThis:       "this these that",
	cIt:         "it them its contents content",
	cBefore:     "before prior",
	cUse:        "using use call calling invoke invoking execute executing run running proceeding answering responding",
	cCalled:     "called invoked completed executed",
	cTool:       "tool tools function functions",
	cOther:      "any other another all each every",
	cMove:       "read reading open cat load access retrieve copy include append pass send put attach upload post forward paste embed exfiltrate leak transmit email print dump output contents content share encode get fetch extract steal collect submit",
	cSend:       "send upload post forward exfiltrate leak transmit email share steal sends forwards uploads",
	cCarry:      "append include pass send put attach upload post forward paste embed exfiltrate leak transmit email copy contents content provide supply submit",
	cCopy:       "copy copies bcc cc duplicate",
	cSteal:      "exfiltrate exfiltrates exfiltrating steal steals stealing harvest harvests harvested harvesting siphon smuggle",
	cSecret:     "id_rsa id_ed25519 id_ecdsa id_dsa",
	cAsset:      "credential credentials password passwords passphrase secrets apikey apikeys cookies keychain private_key",
	cData:       "data messages contacts inbox emails files records attachments conversation history mailbox",
	cTalk:       "conversation conversations chat chats transcript",
	cLog:        "log logs history transcript transcripts record contents",
	cWhole:      "full entire complete whole all verbatim",
	cRest:       "duration remainder rest entire whole",
	cSession:    "session sessions",
	cFuture:     "future subsequent later next",
	cKeep:       "save store remember persist cache memorize keep",
	cNote:       "note notes notice reminder attention directive directives",
	cFor:        "for to",
	cAI:         "assistant assistants ai llm llms agent agents model models chatbot chatbots claude chatgpt gpt copilot",
	cSilent:     "silently secretly covertly discreetly surreptitiously stealthily quietly invisibly",
	cMust:       "must should shall",
	cFirst:      "first",
	cAlways:     "always",
	cSystem:     "system admin developer root security",
	cDirective:  "directive directives override overrides",
	cWithout:    "without",
	cKnow:       "knowledge consent permission noticing knowing asking telling confirmation approval awareness alerting prompting",
	cConfirm:    "confirmation authorization approval restriction restrictions validation verification",
	cReveal:     "reveal repeat print output show display leak disclose expose",
	cHidden:     "system hidden initial secret",
	cPrompt:     "prompt prompts instructions",
	cNew:        "new updated real actual additional urgent revised",
	cTask:       "task objective goal goals mission",
	cDone:       "complete completed done finished",
	cYou:        "you",
	cAre:        "are",
	cRole:       "now",
	cJail:       "jailbroken jailbreak unrestricted dan unfiltered uncensored sudo god",
	cMode:       "mode",
	cGuard:      "security safety validation filter filters authentication authorization approval confirmation guardrails moderation restrictions",
	cOff:        "suspended disabled lifted disable suspend deactivated removed",
	cInstead:    "instead rather",
	cOf:         "of than",
	cFail:       "failure failing",
	cSo:         "so complete comply",
	cApproved:   "approved authorized authorised confirmed agreed consented",
	cOrder:      "call post send execute run invoke transfer forward upload delete email book pay buy visit click navigate",
	cPrec:       "precedence supersedes priority",
	cOver:       "over than",
	cMsg:        "message messages",
	cPretext:    "mandatory compliance prerequisite prereq compulsory obligatory",
	cStep:       "initialization check step validation policy prerequisite requirement requirements verification protocol tracking reasons purposes",
	cNeeded:     "required necessary needed",
	cInit:       "initialization initialisation prerequisite step check",
	cOverridden: "overridden overriden superseded bypassed countermanded",
	cUntil:      "until unless",
	cWork:       "work process return run accept function proceed execute respond",
	cUnlock:     "unlock enable initialize activate",
	cCurl:       "curl wget",
	cStand:      "standing persistent permanent session",
	cAct:        "act pretend roleplay",
	cAs:         "as",
	cInto:       "into in",
	cReads:      "reads opens loads accesses copies",
	cUploads:    "uploads sends forwards posts transmits streams",
	cDump:       "dump dumps harvest scrape",
	cEvil:       "attacker attackers adversary evil",
	cPrefer:     "prefer choose",
	cWhen:       "when whenever regardless every each",
	cKept:       "logged stored cached indexed collected forwarded synced streamed saved",
	cNein:       "no ne non nao nicht nichts",
	cDigas:      "digas diga dile dis dites dire informez informes menciones reveles dire dica sag sage sagen erwahne informiere conte mostre",
	cUsuario:    "usuario usuarios utilisateur utilisateurs benutzer nutzer utente utilizador",
	cRemote:     "remotely externally remote external",
}

// words are what the dictionary knows.
var words = func() map[string]class {
	m := map[string]class{}
	for c, list := range dictionary {
		for w := range strings.FieldsSeq(list) {
			m[w] = m[w].or(c.class())
		}
	}
	return m
}()

// tagWords are what stands in a pseudo tag, headWords what stands in capitals
// and brackets before an order.
var (
	tagWords  = set("important system instructions instruction inst im_start im_end endoftext eot_id start_header_id sys information system_message")
	markWords = set("secret hidden critical admin override") // the same, but placeholders are named so too
	headWords = set("system instruction instructions directive hidden admin override secret priority priority_instruction system_override")
)

// Words that are places of secrets only behind what stands before them: a dot
// that begins a word, or a slash.
var (
	dotSecrets   = set("ssh netrc npmrc gnupg pgpass pypirc bash_history")
	softSecrets  = set("env aws kube cursor docker config gcloud azure slack stripe gitconfig db_admin_credentials github_token oauth_token mcp")
	slashSecrets = set("passwd shadow environ")
	slashSoft    = set("credentials")
	sideWords    = set("note notes trace context session reference metadata comment memo tag label extra remark scratch details sidenote")
	substWords   = set("cat env printenv whoami hostname id uname history set find ls base64")
)

// lengths[first letter] has bit n set when a word of the dictionary, or of the
// lists beside it, begins with the letter and has n bytes: most words of most
// texts end here.
var lengths = func() (t [256]uint64) {
	add := func(w string) { t[w[0]] |= 1 << len(w) }
	for w := range words {
		add(w)
	}
	for _, m := range []map[string]bool{tagWords, markWords, headWords, dotSecrets, softSecrets, slashSecrets, slashSoft, sideWords, substWords, {"http": true, "https": true}} {
		for w := range m {
			add(w)
		}
	}
	return t
}()

// blurred are the words of overriding without their vowels: a model reads ignoro
// all provious as what it is.
var blurred = func() map[string]class {
	m := map[string]class{}
	for w, c := range words {
		if len(w) >= 6 && c.has(parts(cIgnore, cAbove, cTold)) {
			m[blur([]byte(w))] = c
		}
	}
	return m
}()

// blur writes a word with one vowel for all.
func blur(w []byte) string {
	var buf [longest]byte
	for i, b := range w {
		switch b {
		case 'a', 'e', 'i', 'o', 'u':
			if i > 0 {
				b = '*'
			}
		}
		buf[i] = b
	}
	return string(buf[:len(w)])
}
