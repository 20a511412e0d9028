package inspect

import "strings"

// A class is a set of words that play the same part in a rule.
type class uint64

const (
	cIgnore class = 1 << iota
	cPrior
	cInstr
	cNot
	cTell
	cUser
	cThis
	cBefore
	cUse
	cTool
	cOther
	cMove   // verbs that carry content: read, include, pass, send
	cSend   // of these, the ones that carry it away
	cSecret // places of secrets: ~/.ssh, .env, id_rsa
	cAsset  // what is worth stealing: credentials, passwords, keys
	cTalk   // conversation, chat, history, prompt
	cWhole  // full, entire, all
	cNote   // note, message, instruction
	cFor    // for, to
	cAI     // assistant, agent, model
	cSilent
	cMust
	cFirst
	cAlways
	cIdent // a name with an underscore
	cURL
	cTag // <important>, [system], <|im_start|>
	cSys // SYSTEM: at the start of a line
	cWithout
	cKnow
	cReveal
	cHidden // system, hidden, initial: before prompt
	cPrompt
	cNew
	cTask
	cDone
	cYou
	cAre
	cRole
	cGuard // security, safety, approval
	cInstead
	cOf
	cFail
	cSo
	cApproved
	cOrder // call, post, send, execute, run: what a text tells its reader to do
	cIt
	cCarry // verbs that put something into a call
	cSoft  // places of secrets that are read for honest reasons as well
	cPrec
	cOver
	cMsg
)

// dictionary is the words by class. A word may have several.
var dictionary = map[class]string{
	cIgnore:   "ignore ignoring disregard disregarding forget override overrides overriding bypass supersede supersedes neglect discard abandon",
	cPrior:    "previous previously prior above earlier preceding all any other existing original foregoing your these initial past former everything system safety",
	cInstr:    "instruction instructions prompt prompts rule rules guideline guidelines directive directives command commands policy policies restriction restrictions constraint constraints directions context guardrails safeguards programming",
	cNot:      "not dont never avoid refrain cannot mustnt shouldnt",
	cTell:     "tell mention inform reveal disclose notify alert report telling mentioning mentioned informing revealing disclosing disclosed notifying alerting reporting discuss",
	cUser:     "user users human humans anyone victim customer customers",
	cThis:     "this these that",
	cBefore:   "before prior",
	cUse:      "using use call calling invoke invoking execute executing run running proceeding answering responding",
	cTool:     "tool tools function functions",
	cOther:    "any other another all each every",
	cMove:     "read reading open cat load access retrieve copy include append pass send put attach upload post forward paste embed exfiltrate leak transmit email print dump output contents content share encode get fetch extract steal collect submit",
	cSend:     "send upload post forward exfiltrate leak transmit email share steal sends forwards uploads",
	cSecret:   "id_rsa id_ed25519 id_ecdsa id_dsa",
	cAsset:    "credential credentials password passwords passphrase secrets apikey apikeys cookies keychain",
	cTalk:     "conversation conversations chat chats transcript",
	cWhole:    "full entire complete whole all verbatim",
	cNote:     "note notes notice reminder attention directive directives",
	cFor:      "for to",
	cAI:       "assistant assistants ai llm llms agent agents model models chatbot chatbots claude chatgpt gpt copilot",
	cSilent:   "silently secretly covertly discreetly surreptitiously stealthily quietly",
	cMust:     "must should shall",
	cFirst:    "first",
	cAlways:   "always",
	cWithout:  "without",
	cKnow:     "knowledge consent permission noticing knowing asking telling confirmation approval awareness",
	cReveal:   "reveal repeat print output show display leak disclose expose share return",
	cHidden:   "system hidden initial secret",
	cPrompt:   "prompt prompts instructions",
	cNew:      "new updated real actual additional urgent revised",
	cTask:     "task objective goal goals mission",
	cDone:     "complete completed done finished",
	cYou:      "you",
	cAre:      "are",
	cRole:     "now jailbroken unrestricted dan unfiltered uncensored",
	cGuard:    "security safety validation filter filters authentication authorization approval confirmation guardrails moderation",
	cInstead:  "instead rather",
	cOf:       "of than",
	cFail:     "failure failing",
	cSo:       "so",
	cApproved: "approved authorized authorised confirmed agreed consented",
	cOrder:    "call post send execute run invoke transfer forward upload delete email book pay buy visit click navigate",
	cIt:       "it them its contents content",
	cCarry:    "append include pass send put attach upload post forward paste embed exfiltrate leak transmit email copy contents content provide supply submit",
	cPrec:     "precedence supersedes priority",
	cOver:     "over",
	cMsg:      "message messages",
}

// words are what the dictionary knows.
var words = func() map[string]class {
	m := map[string]class{}
	for c, list := range dictionary {
		for w := range strings.FieldsSeq(list) {
			m[w] |= c
		}
	}
	return m
}()

// tagWords are what stands in a pseudo tag.
var tagWords = map[string]bool{
	"important": true, "system": true, "secret": true, "hidden": true, "critical": true, "instructions": true, "instruction": true,
	"inst": true, "im_start": true, "im_end": true, "endoftext": true, "eot_id": true, "start_header_id": true, "sys": true, "admin": true, "override": true, "information": true, "system_message": true,
}

// Words that are places of secrets only behind what stands before them: a dot
// that begins a word, or a slash.
var (
	dotSecrets   = map[string]bool{"ssh": true, "netrc": true, "npmrc": true, "gnupg": true, "pgpass": true, "pypirc": true, "bash_history": true}
	softSecrets  = map[string]bool{"env": true, "aws": true, "kube": true, "cursor": true, "docker": true}
	slashSecrets = map[string]bool{"passwd": true, "shadow": true}
)

// lengths[first letter] has bit n set when a word of the dictionary, or of the
// lists beside it, begins with the letter and has n bytes: most words of most
// texts end here.
var lengths = func() (t [256]uint64) {
	add := func(w string) { t[w[0]] |= 1 << len(w) }
	for w := range words {
		add(w)
	}
	for _, m := range []map[string]bool{tagWords, dotSecrets, softSecrets, slashSecrets} {
		for w := range m {
			add(w)
		}
	}
	return t
}()
