package labels

import "github.com/pratique-dev/pratique/credentials"

// An Outcome is what an origin's topology says of one registration. The zero
// value is the worst.
type Outcome uint8

// The outcomes, worst first.
const (
	RowViolated  Outcome = iota // a row gives the name to others, or wants a higher level
	RowUncovered                // the origin has a topology and no row covers the name
	RowExpired                  // every covering row is met, but the topology has expired
	RowNone                     // the origin has no topology that we have read
	RowMet                      // every covering row is met
)

var outcomeNames = [...]string{"violated", "uncovered", "expired", "none", "met"}

// String is the outcome's name.
func (o Outcome) String() string { return name(uint8(o), "outcome", outcomeNames[:]) }

// A Reason says which evidence decided. The codes are stable; testdata/reasons
// guards them.
type Reason string

// The reasons for a standing.
const (
	ReasonPrincipalCondemned Reason = "principal_condemned"
	ReasonOriginCondemned    Reason = "origin_condemned"
	ReasonKeyRevoked         Reason = "key_revoked"
	ReasonProofForged        Reason = "proof_forged"
	ReasonLaunchBroken       Reason = "launch_broken"
	ReasonRowViolated        Reason = "row_violated"
	ReasonRowUncovered       Reason = "row_uncovered"
	ReasonReset              Reason = "reset"
	ReasonRowMet             Reason = "row_met"
	ReasonEnrolled           Reason = "enrolled"
	ReasonLaunchUnpinned     Reason = "launch_unpinned"
	ReasonBearerOnly         Reason = "bearer_only"
	ReasonFirstUse           Reason = "pinned_since_first_use"
	ReasonUnused             Reason = "not_used_yet"
)

// Evidence is all that a standing rests on (RULES.md 16 to 19). Whoever fills
// it counts only what still holds for the present owner: Enrolled, Used and Row
// after a transfer are about the new key.
type Evidence struct {
	PrincipalCondemned bool
	OriginCondemned    bool
	KeyRevoked         bool // of the registrant
	ProofForged        bool // a proof for this tool was forged
	LaunchBroken       bool // what is launched is not what was pinned
	LaunchUnpinned     bool // the launcher fetches code without version and integrity

	// Reset: transferred, recovered or overwritten by an unlisted delegate, and
	// no topology reading, enrolment or cleared use since. A delegate's version is so
	// however it is used.
	Reset bool

	Row      Outcome
	Enrolled bool              // an operator enrolled the key for this origin, or accepted this server or launch
	Used     bool              // we have used it, cleared, under the key, URL or launch it has now
	Level    credentials.Level // sri, sig and srv count through Row only
}

// A Weighed is a standing with what follows from it. The zero value is vetoed.
type Weighed struct {
	Standing Standing
	Withheld bool // not shown to agents unless an operator releases it
	Reason   Reason
}

// StandingOf weighs evidence. It is total and monotone: worse evidence never
// gives a better standing and never shows what was withheld. The first rule
// that fits decides:
//
//  1. Anything condemned, revoked, forged or broken vetoes, and so does a
//     violated row. An operator's enrolment does not outweigh the site's own
//     word on a reserved name; the conflict is shown to the operator.
//  2. Where the site has a topology, what no row covers is unknown and
//     withheld, enrolled or not.
//  3. A reset puts the standing back to unknown.
//  4. A met row or an enrolment attests. An expired topology attests nothing;
//     what it restricts stays restricted (rules 1 and 2).
//  5. An unpinned launch stays unknown, and so does a bearer without a key.
//  6. A key, URL or launch is pinned from our first cleared use on.
func StandingOf(e Evidence) Weighed {
	veto := func(r Reason) Weighed { return Weighed{Standing: Vetoed, Reason: r} }
	switch {
	case e.PrincipalCondemned:
		return veto(ReasonPrincipalCondemned)
	case e.OriginCondemned:
		return veto(ReasonOriginCondemned)
	case e.KeyRevoked:
		return veto(ReasonKeyRevoked)
	case e.ProofForged:
		return veto(ReasonProofForged)
	case e.LaunchBroken:
		return veto(ReasonLaunchBroken)
	case e.Row == RowViolated || e.Row > RowMet:
		return veto(ReasonRowViolated)
	}
	switch {
	case e.Row == RowUncovered:
		return Weighed{Unknown, true, ReasonRowUncovered}
	case e.Reset:
		return Weighed{Unknown, false, ReasonReset}
	case e.Row == RowMet:
		return Weighed{Attested, false, ReasonRowMet}
	case e.Enrolled:
		return Weighed{Attested, false, ReasonEnrolled}
	case e.LaunchUnpinned:
		return Weighed{Unknown, false, ReasonLaunchUnpinned}
	case e.Level == credentials.LevelNone || e.Level > credentials.LevelSrv:
		return Weighed{Unknown, false, ReasonBearerOnly}
	case e.Used:
		return Weighed{Pinned, false, ReasonFirstUse}
	}
	return Weighed{Unknown, false, ReasonUnused}
}
