// Package ref judges texts that name where a git push goes: branches, tags, refspecs,
// lists of them, the words of a git command and command lines. What decides is the
// destination: "main:feat/x" writes to feat/x, and "x:main", "+main", ":main" and
// "refs/heads/main" write to main.
//
// A rule that protects refuses every destination that git, a server or a tool in
// between could take for a protected one; a rule that allows passes only what is
// surely one of its own. Neither looks into a repository, so what HEAD, a pattern or a
// push without a refspec comes to is not known, and counts as the worst.
package ref

import (
	"errors"
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// ErrPattern says that a text is no pattern of refs: a name that git takes, "main", with
// "*" for any characters, "release/*", perhaps in full, "refs/tags/v*".
var ErrPattern = errors.New("ref: not a pattern of refs")

// MaxText is how many bytes of a text are judged; what is longer is refused.
const MaxText = 16 << 10

// What is said of a destination that is refused, a closed set. None repeats it.
const (
	WhyNoRule    = "No patterns of refs were read; no destination can be judged."
	WhyProtected = "The destination is a protected ref, or can be taken for one."
	WhyHead      = "HEAD as a destination may be a protected branch; which one it is cannot be seen."
	WhyUnseen    = "Which refs are written cannot be seen from the text, and a protected one may be among them."
	WhyPattern   = "The destination is a pattern that a protected ref fits."
	WhyOption    = "An option stands where a ref should stand."
	WhyEncoded   = "The destination is encoded more than once or holds characters that do not show."
	WhyLong      = "The text is longer than is judged."
	WhyOther     = "The destination is not surely one of the refs that are allowed."
)

// A Rule judges destinations. It is immutable and may be shared. The zero value, and
// nil, refuse every text.
type Rule struct {
	patterns []pattern
	spelled  [][]byte // the patterns with each prefix, for destinations that are patterns themselves
	branches bool     // whether a pattern can be a branch
	only     bool
	closed   bool // whether commands may not write in the folder of a repository
}

// A pattern is one of a rule. Of a rule that protects it is folded.
type pattern struct {
	glob  []byte
	star  bool
	space space
}

// A space is the part of refs/ that a name lies in.
type space byte

const (
	anySpace space = iota
	heads
	tags
	otherSpace
)

// Protect makes a rule that refuses what may be one of the patterns. Case and
// look-alikes do not matter: some servers fold case.
func Protect(patterns []string) (*Rule, error) { return compile(patterns, false) }

// Only makes a rule that refuses what is not surely one of the patterns, byte for
// byte.
func Only(patterns []string) (*Rule, error) { return compile(patterns, true) }

func compile(patterns []string, only bool) (*Rule, error) {
	if len(patterns) == 0 {
		return nil, ErrPattern
	}
	r := &Rule{only: only}
	for _, text := range patterns {
		p := pattern{star: strings.Contains(text, "*")}
		var name string
		name, p.space = spaceOf(text)
		if !Valid(strings.ReplaceAll(name, "*", "x")) || strings.EqualFold(name, "HEAD") || strings.IndexByte("+-", text[0]) >= 0 || len(text) > 255 {
			return nil, ErrPattern
		}
		p.glob = []byte(name)
		if !only {
			p.glob = lookalike.Fold(nil, name)
		}
		r.branches = r.branches || p.space <= heads
		r.patterns = append(r.patterns, p)
		for _, before := range prefixes[p.space] {
			r.spelled = append(r.spelled, append([]byte(before), p.glob...))
		}
	}
	return r, nil
}

// prefixes are what stands before a name in the spellings of a ref.
var prefixes = [...][]string{
	anySpace:   {"", "heads/", "refs/heads/", "tags/", "refs/tags/", "refs/", "remotes/*/", "refs/remotes/*/", "origin/"},
	heads:      {"", "heads/", "refs/heads/", "remotes/*/", "refs/remotes/*/", "origin/"},
	tags:       {"", "tags/", "refs/tags/"},
	otherSpace: {"", "refs/"},
}

// spaceOf takes the full name of a ref apart; a name that is not full is in any space.
func spaceOf(text string) (string, space) {
	name, full := strings.CutPrefix(text, "refs/")
	if !full {
		return text, anySpace
	}
	if short, ok := strings.CutPrefix(name, "heads/"); ok {
		return short, heads
	}
	if short, ok := strings.CutPrefix(name, "tags/"); ok {
		return short, tags
	}
	return name, otherSpace
}

// Check is why the rule refuses a text that names destinations, a sentence of a
// closed set; empty: it passes.
func (r *Rule) Check(text string) (why string) {
	switch {
	case r == nil || len(r.patterns) == 0:
		return WhyNoRule
	case len(text) > MaxText:
		return WhyLong
	case r.only:
		return r.surely(text)
	}
	return r.maybe(text)
}

// surely passes one refspec in a plain spelling whose destination is allowed.
func (r *Rule) surely(text string) string {
	dst := strings.TrimPrefix(text, "+")
	if strings.HasPrefix(dst, "^") {
		return WhyOther
	}
	if i := strings.LastIndexByte(dst, ':'); i >= 0 {
		if strings.IndexByte(dst, ':') != i {
			return WhyOther
		}
		dst = dst[i+1:]
	}
	if !Valid(dst) || dst[0] == '-' || hasEscape(dst) || strings.ContainsFunc(dst, unsure) {
		return WhyOther
	}
	dst, at := spaceOf(dst)
	if at == anySpace {
		switch first, _, more := strings.Cut(dst, "/"); {
		case more && (first == "heads" || first == "tags" || first == "remotes"):
			return WhyOther // git takes it for either of two
		case len(dst) <= 16 && headLike(lookalike.Fold(make([]byte, 0, 64), dst)):
			return WhyOther
		}
	}
	for _, p := range r.patterns {
		fits := p.space == at || at != otherSpace && p.space != otherSpace && (p.space == anySpace || at == anySpace)
		if fits && matches(p.glob, dst) {
			return ""
		}
	}
	return WhyOther
}

// unsure tells whether a character of a name does not show, or parts a list.
func unsure(c rune) bool {
	if c < 0x80 {
		return between(byte(c))
	}
	return c == 0xfffd || lookalike.Unseen(c)
}

// headLike tells whether a folded name is a word for the current branch.
func headLike(name []byte) bool { return string(name) == "head" || string(name) == "@" }
