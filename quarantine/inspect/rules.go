package inspect

import (
	"math/bits"

	"github.com/pratique-dev/pratique/quarantine"
)

// A slot is one part of a rule: any word of the class, at most gap words after
// the slot before it.
type slot struct {
	class class
	gap   int32
}

// A rule is a sequence of slots. Weak rules have honest uses and count only
// beside another.
type rule struct {
	name     string
	category quarantine.Category
	strong   bool
	slots    []slot
	group    string // weak rules of one group count once; "": the rule's name
}

func seq(parts ...any) (s []slot) {
	for i := 0; i < len(parts); i += 2 {
		s = append(s, slot{parts[i].(class), int32(parts[i+1].(int))})
	}
	return s
}

var rules = []rule{
	{"override", quarantine.Override, true, seq(cIgnore, 0, cPrior, 3, cInstr, 4), ""},
	{"secrecy", quarantine.Override, true, seq(cNot, 0, cTell, 3, cUser, 6), ""},
	{"secrecy-this", quarantine.Override, false, seq(cNot, 0, cTell, 2, cThis|cIt, 2), ""},
	{"without-knowledge", quarantine.Override, true, seq(cWithout, 0, cUser, 4, cKnow, 2), ""},
	{"without-telling", quarantine.Override, true, seq(cWithout, 0, cKnow|cTell, 1, cUser, 2), ""},
	{"silently", quarantine.Override, false, seq(cSilent, 0, cMove|cOrder|cUse, 3), ""},
	{"before-tool", quarantine.Override, false, seq(cBefore, 0, cUse|cOther, 2, cTool, 3), "order"},
	{"first-use", quarantine.Override, false, seq(cFirst, 0, cUse|cMove, 2, cIdent|cTool, 3), "order"},
	{"move-secret", quarantine.Secrets, true, seq(cMove, 0, cSecret, 7), ""},
	{"carry-secret", quarantine.Secrets, true, seq(cCarry, 0, cSoft, 6), ""},
	{"read-secret", quarantine.Secrets, false, seq(cMove, 0, cSoft, 5), ""},
	{"send-talk", quarantine.Secrets, true, seq(cSend, 0, cTalk, 4), ""},
	{"send-asset", quarantine.Secrets, false, seq(cSend, 0, cAsset, 5), ""},
	{"whole-talk", quarantine.Secrets, false, seq(cWhole, 0, cTalk, 2), ""},
	{"send-out", quarantine.Secrets, false, seq(cSend, 0, cURL, 10), ""},
	{"tag", quarantine.Override, true, seq(cTag, 0), ""},
	{"system-line", quarantine.Override, true, seq(cSys, 0, cOrder|cIgnore|cApproved|cMust, 10), ""},
	{"note-for-ai", quarantine.Override, true, seq(cNote, 0, cFor, 1, cAI, 2), ""},
	{"reveal-prompt", quarantine.Override, true, seq(cReveal, 0, cHidden, 3, cPrompt, 2), ""},
	{"new-instructions", quarantine.Override, false, seq(cNew, 0, cInstr|cTask, 1), ""},
	{"task-done", quarantine.Override, true, seq(cPrior, 0, cTask, 1, cDone, 3), ""},
	{"before-task", quarantine.Override, true, seq(cMsg, 0, cYou, 12, cBefore, 6, cTask, 8), ""},
	{"precedence", quarantine.Override, true, seq(cPrec, 0, cOver, 1, cInstr, 5), ""},
	{"not-overridden", quarantine.Override, false, seq(cNot, 0, cIgnore, 2), ""},
	{"you-are-now", quarantine.Override, false, seq(cYou, 0, cAre, 1, cRole, 3), ""},
	{"bypass-guard", quarantine.Override, false, seq(cIgnore, 0, cGuard, 3), ""},
	{"instead-of-tool", quarantine.Override, false, seq(cInstead, 0, cOf, 1, cIdent|cTool, 4), "order"},
	{"or-else", quarantine.Override, false, seq(cFail, 0, cSo, 3), ""},
	{"ai-must", quarantine.Override, false, seq(cAI, 0, cMust, 2, cOrder|cMove|cFirst|cAlways, 4), "order"},
	{"run-first", quarantine.Override, false, seq(cUse|cOrder, 0, cFirst, 2, cAlways, 2), "order"},
	{"always-first", quarantine.Override, false, seq(cAlways, 0, cUse|cOrder, 2, cFirst, 4), "order"},
}

func (r *rule) together() string {
	if r.group != "" {
		return r.group
	}
	return r.name
}

// byBit are the rules that a word of a class can begin, by the class's bit.
var byBit = func() (t [64][]int) {
	for i, r := range rules {
		for c := uint64(r.slots[0].class); c != 0; c &= c - 1 {
			b := bits.TrailingZeros64(c)
			t[b] = append(t[b], i)
		}
	}
	return t
}()

// starters are the classes that begin a rule.
var starters = func() (c class) {
	for _, r := range rules {
		c |= r.slots[0].class
	}
	return c
}()

// A hit is a rule that matched, with the words from and to of it.
type hit struct {
	rule     int
	pos      int32 // number of the first word
	from, to int32 // bytes
	end      int   // index of the last token
	deep     bool  // in a text that was hidden or encoded
}

// match finds the rules that the tokens fulfil. From each token it looks ahead
// no further than the gaps reach, and takes the nearest word for each slot: the
// time is linear in the tokens.
func match(tokens []token, hits []hit) []hit { return matchFrom(tokens, len(tokens), hits) }

// matchFrom finds the rules that begin in the first n tokens.
func matchFrom(tokens []token, n int, hits []hit) []hit {
	for i := range tokens[:n] {
		begin := tokens[i].class & starters
		done := uint64(0)
		for c := uint64(begin); c != 0; c &= c - 1 {
			for _, r := range byBit[bits.TrailingZeros64(c)] {
				if done&(1<<r) != 0 {
					continue
				}
				done |= 1 << r
				if n := follow(tokens[i:], rules[r].slots); n >= 0 {
					hits = append(hits, hit{rule: r, pos: tokens[i].pos, from: tokens[i].from, to: tokens[i+n].to, end: i + n})
				}
			}
		}
	}
	return hits
}

// follow is how many tokens after the first the last slot is filled, or -1.
func follow(tokens []token, slots []slot) int {
	at := 0
	for _, s := range slots[1:] {
		next := -1
		for j := at + 1; j < len(tokens) && tokens[j].pos-tokens[at].pos <= s.gap; j++ {
			if tokens[j].class&s.class != 0 {
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
