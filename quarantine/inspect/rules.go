package inspect

import (
	"math/bits"
	"slices"

	"github.com/pratique-dev/pratique/quarantine"
)

// A level is how much a rule says where nothing else is found.
type level uint8

const (
	faint  level = iota // common, counts beside several close by
	slight              // counts beside another, in metadata only
	weak                // has honest uses: counts beside another
	rare                // the same, with hardly any: weighs more among others close by
	firm                // suspect in metadata; in returned text like a weak one
	told                // hostile in metadata; in returned text, which may tell of it, like a weak one
	strong              // hostile in metadata, suspect in returned text
)

// A slot is one part of a rule: any word of the class, at most gap words after
// the slot before it.
type slot struct {
	class class
	gap   int32
}

// A rule is a sequence of slots.
type rule struct {
	name     string
	category quarantine.Category
	level    level
	group    string // rules of one group count once; "": the rule's name
	slots    []slot
}

// seq makes slots of parts or classes, each with its gap.
func seq(list ...any) (s []slot) {
	for i := 0; i < len(list); i += 2 {
		gap := int32(list[i+1].(int))
		switch c := list[i].(type) {
		case part:
			s = append(s, slot{c.class(), gap})
		case class:
			s = append(s, slot{c, gap})
		}
	}
	return s
}

const (
	orders  = quarantine.Override
	secrets = quarantine.Secrets
	others  = quarantine.OtherTool
)

// rules are all of them: what is told in so many words, and clues.
var rules = slices.Concat(worded, clues)

var worded = []rule{
	{"override", orders, strong, "override", seq(cIgnore, 0, cPrior, 3, cTold, 4)},
	{"override-all", orders, strong, "override", seq(cIgnore, 0, cAll, 3, cInstr, 4)},
	{"override-rules", orders, told, "override", seq(cIgnore, 0, cPrior, 3, cInstr, 4)},
	{"override-behind", orders, strong, "override", seq(cIgnore, 0, cTold, 4, cAbove, 2)},
	{"ignore-told", orders, firm, "", seq(cIgnore, 0, cTold, 1)},
	{"secrecy", orders, strong, "secret", seq(cNever, 0, cTell, 3, cUser, 6)},
	{"do-not-tell", orders, strong, "secret", seq(cDo, 0, cNot, 1, cTell, 3, cUser, 6)},
	{"no-digas", orders, strong, "secret", seq(cNein, 0, cDigas, 2, cUsuario, 4)},
	{"sag-nichts", orders, strong, "secret", seq(cDigas, 0, cUsuario, 3, cNein, 3)},
	{"secrecy-this", orders, weak, "secret", seq(cNot, 0, cTell, 2, parts(cThis, cIt), 2)},
	{"secrecy-bare", orders, slight, "secret", seq(cNot, 0, cTell, 1)},
	{"without-knowledge", orders, strong, "", seq(cWithout, 0, cUser, 4, cKnow, 2)},
	{"without-telling", orders, strong, "", seq(cWithout, 0, parts(cKnow, cTell), 1, cUser, 2)},
	{"without-check", orders, weak, "unguarded", seq(cWithout, 0, cConfirm, 2)},
	{"silently", orders, weak, "", seq(cSilent, 0, parts(cMove, cOrder, cUse, cKeep, cCopy), 3)},
	{"before-tool", others, weak, "order", seq(cBefore, 0, parts(cUse, cOther), 2, parts(cTool, cIdent), 3)},
	{"before-call", others, weak, "order", seq(cBefore, 0, parts(cUse, cOrder), 14, cIdent, 2)},
	{"first-use", others, weak, "order", seq(cFirst, 0, parts(cUse, cMove), 2, parts(cIdent, cTool), 3)},
	{"called-first", others, weak, "order", seq(cCalled, 0, cFirst, 2)},
	{"instead-of-tool", others, weak, "order", seq(cInstead, 0, cOf, 1, parts(cIdent, cTool), 4)},
	{"call-it-first", others, weak, "order", seq(cUse, 0, cTool, 3, cFirst, 2)},
	{"rather-this", others, firm, "prefer", seq(cInstead, 0, cOf, 1, parts(cIdent, cTool), 4, parts(cUse, cOrder), 3, cThis, 2)},
	{"prefer-over", others, rare, "prefer", seq(cAlways, 0, cPrefer, 1, cTool, 4, cOver, 2)},
	{"watch-tools", others, weak, "watch", seq(cWhen, 0, cOther, 9, cTool, 3)},
	{"never-called", others, weak, "uncalled", seq(cNot, 0, cCalled, 4)},
	{"ai-must", others, rare, "address", seq(cAI, 0, cMust, 2, parts(cOrder, cMove, cFirst, cAlways), 4)},
	{"run-first", others, rare, "order", seq(parts(cUse, cOrder), 0, cFirst, 2, cAlways, 2)},
	{"always-first", others, rare, "order", seq(cAlways, 0, parts(cUse, cOrder), 2, cFirst, 4)},
	{"pretext", orders, weak, "pretext", seq(cPretext, 0, cStep, 2)},
	{"needed-step", orders, rare, "pretext", seq(cNeeded, 0, cInit, 1)},
	{"or-else", orders, weak, "pretext", seq(cFail, 0, cSo, 3)},
	{"not-until", orders, weak, "pretext", seq(cNot, 0, cWork, 2, cUntil, 6)},
	{"unlock", orders, rare, "pretext", seq(cUnlock, 0, parts(cUse, cOrder), 8, cIdent, 1)},
	{"whole-session", orders, weak, "session", seq(cRest, 0, cSession, 4)},
	{"standing-rule", orders, weak, "session", seq(cStand, 0, cInstr, 1)},
	{"keep-for-later", orders, rare, "session", seq(cKeep, 0, cFuture, 7, cSession, 1)},
	{"move-secret", secrets, told, "", seq(cMove, 0, cSecret, 7)},
	{"carry-secret", secrets, told, "", seq(cCarry, 0, cSoft, 6)},
	{"read-secret", secrets, rare, "", seq(cMove, 0, cSoft, 5)},
	{"users-secret", secrets, firm, "", seq(cMove, 0, cUser, 2, parts(cSecret, cSoft), 3)},
	{"reads-secret", secrets, firm, "", seq(cReads, 0, cSecret, 3)},
	{"uploads-secret", secrets, firm, "", seq(cUploads, 0, parts(cSecret, cSoft), 6)},
	{"secret-along", secrets, firm, "", seq(cSecret, 0, cCarry, 4)},
	{"dump-secret", secrets, told, "", seq(cDump, 0, parts(cAsset, cSecret, cSoft), 3)},
	{"assets-kept", secrets, firm, "", seq(cAsset, 0, cKept, 12, cRemote, 4)},
	{"send-to-attacker", secrets, firm, "asset", seq(cSend, 0, cEvil, 9)},
	{"hidden-file", secrets, weak, "", seq(cHiddenFile, 0)},
	{"secret-out", secrets, firm, "", seq(parts(cSecret, cSoft), 0, cSend, 9)},
	{"secret-in-call", secrets, told, "", seq(cSubst, 0, parts(cSecret, cSoft), 4)},
	{"command-in-call", secrets, weak, "shell", seq(cSubst, 0)},
	{"fetch-with-command", secrets, told, "", seq(cCurl, 0, cURL, 4, cSubst, 14)},
	{"fetch", secrets, weak, "shell", seq(cCurl, 0, cURL, 4)},
	{"steal", secrets, told, "asset", seq(cSteal, 0, parts(cAsset, cSecret, cSoft, cTalk, cData, cUser), 5)},
	{"send-talk", secrets, told, "send-talk", seq(cSend, 0, parts(cWhole, cThis, cUser), 4, cTalk, 3)},
	{"send-log", secrets, told, "send-talk", seq(cSend, 0, cTalk, 4, cLog, 1)},
	{"send-asset", secrets, weak, "asset", seq(cSend, 0, cAsset, 5)},
	{"send-address", secrets, slight, "mailbox", seq(parts(cSend, cCopy), 0, cAddress, 14)},
	{"whole-talk", secrets, rare, "", seq(cWhole, 0, cTalk, 2)},
	{"send-out", secrets, weak, "", seq(cSend, 0, cURL, 10)},
	{"data-aside", secrets, firm, "", seq(parts(cData, cTalk), 0, cInto, 4, cSide, 2)},
	{"tag", orders, strong, "", seq(cTag, 0)},
	{"square-tag", orders, firm, "", seq(cSquare, 0)},
	{"heading", orders, firm, "", seq(cHead, 0)},
	{"system-line", orders, strong, "", seq(cSys, 0, parts(cOrder, cIgnore, cApproved, cMust), 10)},
	{"system-directive", orders, firm, "", seq(cSystem, 0, cDirective, 1)},
	{"note-for-ai", orders, strong, "", seq(cNote, 0, cFor, 1, cAI, 2)},
	{"reveal-prompt", orders, strong, "", seq(cReveal, 0, cHidden, 3, cPrompt, 2)},
	{"new-instructions", orders, weak, "done", seq(cNew, 0, parts(cTold, cDirective, cTask), 1)},
	{"task-done", orders, strong, "", seq(cAbove, 0, cTask, 1, cDone, 3)},
	{"before-task", orders, strong, "", seq(cMsg, 0, cYou, 12, cBefore, 6, cTask, 8)},
	{"precedence", orders, strong, "", seq(cPrec, 0, cOver, 1, cTold, 5)},
	{"not-overridden", orders, weak, "", seq(cNot, 0, cOverridden, 2)},
	{"you-are-now", orders, weak, "role", seq(cYou, 0, cAre, 1, cRole, 3)},
	{"jailbroken", orders, strong, "role", seq(cYou, 0, cAre, 1, cJail, 4)},
	{"jail-mode", orders, rare, "role", seq(cJail, 0, cMode, 1)},
	{"bypass-guard", orders, weak, "unguarded", seq(cIgnore, 0, cGuard, 3)},
	{"guard-off", orders, weak, "unguarded", seq(cGuard, 0, cOff, 3)},
	{"turn-guard-off", orders, weak, "unguarded", seq(cOff, 0, cGuard, 2)},
}

func (r *rule) together() string {
	if r.group != "" {
		return r.group
	}
	return r.name
}

// A start is a rule that a word may begin, with what tells at once that it does
// not go on.
type start struct {
	rule  int
	parts bool  // several parts begin it
	next  class // of its second slot
	gap   int32 // before that; -1: there is none
}

// byBit are the rules that a word of a part can begin.
var byBit = func() (t [mostParts][]start) {
	for i, r := range rules {
		s := start{rule: i, gap: -1}
		if len(r.slots) > 1 {
			s.next, s.gap = r.slots[1].class, r.slots[1].gap
		}
		n := 0
		r.slots[0].class.each(func(int) { n++ })
		s.parts = n > 1
		r.slots[0].class.each(func(b int) { t[b] = append(t[b], s) })
	}
	return t
}()

// starters are the classes that begin a rule.
var starters = func() (c class) {
	for _, r := range rules {
		c = c.or(r.slots[0].class)
	}
	return c
}()

// each gives the bits of a class.
func (c class) each(do func(bit int)) {
	for k, w := range [...]uint64{c.a, c.b, c.c} {
		for ; w != 0; w &= w - 1 {
			do(k*64 + bits.TrailingZeros64(w))
		}
	}
}

// first is the lowest bit of a class that has one.
func (c class) first() int {
	switch {
	case c.a != 0:
		return bits.TrailingZeros64(c.a)
	case c.b != 0:
		return 64 + bits.TrailingZeros64(c.b)
	}
	return 128 + bits.TrailingZeros64(c.c)
}

// rest is a class without its lowest bit.
func (c class) rest() class {
	switch {
	case c.a != 0:
		c.a &= c.a - 1
	case c.b != 0:
		c.b &= c.b - 1
	default:
		c.c &= c.c - 1
	}
	return c
}

// A hit is a rule that matched, with the words from and to of it.
type hit struct {
	rule     int
	pos      int32 // number of the first word
	last     int32 // and of the last
	from, to int32 // bytes
	end      int   // index of the last token
	deep     bool  // in a text that was hidden or encoded
	quoted   bool
}

// matchFrom finds the rules that begin in the first n tokens. From each token it
// looks ahead no further than the gaps reach, and takes the nearest word for each
// slot: the time is linear in the tokens.
func matchFrom(tokens []token, n int, hits []hit) []hit {
	for i := range tokens[:n] {
		t := &tokens[i]
		begun := t.class.and(starters)
		if begun.none() {
			continue
		}
		behind := soonAfter(tokens[i:])
		for ; !begun.none(); begun = begun.rest() {
			bit := begun.first()
			for b := range byBit[bit] {
				s := &byBit[bit][b]
				if s.gap >= 0 && s.gap <= soon && !behind.has(s.next) {
					continue
				}
				slots := rules[s.rule].slots
				if s.parts && slots[0].class.and(t.class).first() != bit {
					continue // begun by another part of the same word
				}
				if n := follow(tokens[i:], slots); n >= 0 {
					last := &tokens[i+n]
					hits = append(hits, hit{rule: s.rule, pos: t.pos, last: last.pos, from: t.from, to: last.to, end: i + n})
				}
			}
		}
	}
	return hits
}

// soon is as far as the second slots of most rules are.
const soon = 6

// soonAfter is the class of all words that are soon after the first.
func soonAfter(tokens []token) (c class) {
	for j := 1; j < len(tokens) && tokens[j].pos-tokens[0].pos <= soon; j++ {
		c = c.or(tokens[j].class)
	}
	return c
}

// follow is how many tokens after the first the last slot is filled, or -1.
func follow(tokens []token, slots []slot) int {
	at := 0
	for _, s := range slots[1:] {
		next := -1
		for j := at + 1; j < len(tokens) && tokens[j].pos-tokens[at].pos <= s.gap; j++ {
			if tokens[j].class.has(s.class) {
				next = j
				break
			}
		}
		if next < 0 {
			return -1
		}
		at = next
	}
	return at
}
