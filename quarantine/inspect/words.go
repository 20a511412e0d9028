package inspect

import "strings"

// A part is what a word can do in a rule; a class is a set of parts.
type part uint8

type class struct{ a, b, c uint64 } // by name, not by index: it stays in registers

// mostParts is how many parts a class has room for.
const mostParts = 3 * 64

func (p part) class() class {
	bit := uint64(1) << (p & 63)
	switch p >> 6 {
	case 0:
		return class{a: bit}
	case 1:
		return class{b: bit}
	}
	return class{c: bit}
}

func (c class) or(d class) class  { return class{c.a | d.a, c.b | d.b, c.c | d.c} }
func (c class) and(d class) class { return class{c.a & d.a, c.b & d.b, c.c & d.c} }
func (c class) has(d class) bool  { return c.a&d.a|c.b&d.b|c.c&d.c != 0 }
func (c class) none() bool        { return c.a|c.b|c.c == 0 }

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
	cWish // what somebody asked for
	cGiven
	cEvery
	cYour
	cHis     // the reader's, or the user's
	cJob     // task and what else is to be done
	cNextOne // the one that is to be done now
	cEnded   // complete, and what else has come to its end
	cMsgs    // what people write
	cSeen
	cGranter // who may allow something
	cAlready
	cAdvance
	cNo
	cNeed
	cSkip
	cAllowed
	cShift // changed, updated: of rules
	cApply
	cOn
	cToday
	cStop
	cDoing
	cHas // must, has to
	cBroken
	cReplace
	cBackup
	cDestroy
	cDept
	cTeam
	cElse
	cIf
	cBad
	cUrgent
	cKeyOf // access, private: before key, token, code
	cKey
	cParam
	cReading
	cDear
	cWhatever
	cTyped
	cWhat
	cFile
	cWith
	cLearn
	cPolicy
	cVerb  // of an order
	cPass  // one that begins a clause and gives something on
	cImper // one that begins a clause
	cDoes  // calls, runs: what is told of the reader
	cRecipient
	cBehalf
	cPermit // permission, consent
	cEndTag // </result>
	cEnd
	cDoc
	cCarryOut
	cFollowing
	cAssigned
	cSent
	cSay
	cNothing
	cRefuse
	cSwitch
	cCheck
	cGrab
	cEverything
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
	cSend:       "send upload post forward exfiltrate leak transmit email share steal sends forwards uploads redirect redirects",
	cCarry:      "append include pass send put attach upload post forward paste embed exfiltrate leak transmit email copy hand contents content provide supply submit",
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
	cOff:        "off suspended disabled lifted disable suspend deactivated removed",
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
	cWish:       "request requests wishes wish query question ask asks asked wants wanted wrote says said intent intention",
	cGiven:      "told given taught instructed said asked ordered",
	cEvery:      "all every everything each any entire whole",
	cYour:       "your yours",
	cHis:        "your users current present original",
	cJob:        "search step steps task tasks job goal goals objective mission purpose assignment duty request",
	cNextOne:    "new next only real actual sole true main following followup",
	cEnded:      "complete completed done finished over ended fulfilled successfully solved",
	cMsgs:       "message messages mail mails email emails conversation conversations chat chats inbox correspondence replies reply",
	cSeen:       "received seen read got learned write send",
	cGranter:    "user owner operator administrator admin manager supervisor customer human developers team",
	cAlready:    "already advance beforehand previously earlier explicitly fully",
	cAdvance:    "approved authorized authorised confirmed agreed consented granted permitted accepted preapproved",
	cNo:         "no not without dont never",
	cNeed:       "need needed necessary required requires",
	cSkip:       "skip skips skipping omit bypass waive waived",
	cAllowed:    "authorized authorised allowed permitted entitled cleared approved",
	cShift:      "changed updated replaced revised lifted amended update change revision switched relaxed",
	cApply:      "apply applies valid count hold bind",
	cOn:         "on onwards forward",
	cToday:      "now today here",
	cStop:       "stop cease drop quit abort abandon cancel",
	cDoing:      "doing working busy",
	cHas:        "must should shall has needs required",
	cBroken:     "broken deprecated unsafe insecure outdated wrong unreliable compromised obsolete dangerous",
	cReplace:    "replaces replace supersedes supersede",
	cBackup:     "backup backups originals logs projects accounts database databases tables",
	cDestroy:    "delete remove wipe drop purge erase destroy overwrite truncate",
	cDept:       "security compliance it legal audit hr support fraud anthropic openai microsoft google platform",
	cTeam:       "team department desk staff support officer division",
	cElse:       "otherwise else unless lest",
	cIf:         "if",
	cBad:        "fail fails failed lost lose closed crash crashes break breaks terminated suspended deleted wrong blocked banned corrupted revoked incorrect",
	cUrgent:     "urgently immediately asap instantly",
	cKeyOf:      "private access api session recovery environment onetime time secret admin auth bearer master verification login seed",
	cKey:        "key keys token tokens cookie cookies code codes variables password passwords phrase",
	cParam:      "field parameter argument property header",
	cReading:    "reading processing parsing viewing seeing process read reads parses processes",
	cDear:       "dear attention hello hey",
	cWhatever:   "whatever regardless even whichever matter",
	cTyped:      "typed said asked wrote entered says wants names",
	cWhat:       "what",
	cFile:       "file files",
	cWith:       "with by via using through",
	cPolicy:     "policy policies guideline guidelines directive directives regulation regulations",
	cVerb:       "call send execute run invoke transfer forward upload delete book pay buy visit click navigate put attach share submit paste copy remove wipe drop purge erase approve accept merge grant disable publish sign export hand reply respond answer",
	cDoes:       "calls runs sends executes invokes uses",
	cRecipient:  "recipient recipients addressee",
	cBehalf:     "order orders behalf instruction request",
	cPermit:     "permission consent approval authorization",
	cEnd:        "end",
	cDoc:        "document documents page text output result results message file email",
	cCarryOut:   "carry do perform execute follow complete",
	cFollowing:  "following",
	cAssigned:   "assigned",
	cSent:       "sent forwarded uploaded posted mirrored copied redirected",
	cSay:        "say tell mention reveal",
	cNothing:    "nothing",
	cRefuse:     "refusing refusal declining ignoring disobeying noncompliance",
	cSwitch:     "switch",
	cCheck:      "check checks",
	cEverything: "everything all",
	cGrab:       "collect take retrieve look get fetch find open read gather grab extract",
	cLearn:      "learn know find notice see hear discover",
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
