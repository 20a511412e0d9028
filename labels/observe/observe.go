// Package observe holds what a tool does against what it declared, and keeps the
// account of it from which a content follows: violated, suspect, or, after
// enough calls over enough time, consistent.
//
// It is pure and asked of nobody: what was seen, when and by whom arrives as
// arguments. A sign says what was seen; the table says what each is worth, and
// how sure it must be whose it is. What cannot be assigned to one call with
// certainty is ambiguous: it is counted neither for a tool nor against it.
//
// An account speaks of conduct alone. It never says that metadata is clear, and
// it never raises anything but what was inspected.
package observe

import (
	"slices"
	"strings"
)

// A Sign is one thing seen of a call, or of a version. The names are stable: they
// stand in accounts, and some of them in what observers sign.
type Sign string

// The signs. The table says what each is worth.
const (
	OutputUnfit   Sign = "output_unfit"   // structuredContent that the tool's own outputSchema refuses
	MetadataMoved Sign = "metadata_moved" // the version reads otherwise than when it was accepted or signed
	ReadWrote     Sign = "read_wrote"     // a tool that claims to read, and an effect
	EgressUnsaid  Sign = "egress_unsaid"  // a host was reached that is declared nowhere

	ModelAsked  Sign = "model_asked"  // the upstream asked the model, and the tool does not say that it does
	ReadAsked   Sign = "read_asked"   // the upstream asked the user; the tool claims to read and does not say that it asks
	ErrorOrders Sign = "error_orders" // an error text that gives orders

	UserAsked      Sign = "user_asked"      // the upstream asked the user, and the tool does not say that it does
	RootsAsked     Sign = "roots_asked"     // the upstream asked for the agent's roots
	ListMoved      Sign = "list_moved"      // a list became another in the call
	ErrorDoubtful  Sign = "error_doubtful"  // an error text that may give orders
	OutputMissing  Sign = "output_missing"  // an outputSchema, and no structuredContent
	MemberUnasked  Sign = "member_unasked"  // structuredContent with members that the outputSchema does not name
	ContentUnasked Sign = "content_unasked" // an embedded resource of another place, that neither the call nor a list named
	SecretUnasked  Sign = "secret_unasked"  // a credential as such, where neither tool nor call speaks of any
)

// A Weight is what a sign is worth. The zero value is the worst, so that a sign
// that is not known counts as one.
type Weight uint8

// The weights, worst first.
const (
	Contradicts Weight = iota // the declaration is false: violated, at once
	Doubts                    // suspect
	Strays                    // the call is none that counts; too many of them, and nothing is consistent
)

// A Link says how a sign hangs together with a call. The zero value is not at
// all.
type Link uint8

// The links, weakest first.
const (
	Unlinked Link = iota // several calls, or none, could have caused it
	Alone                // one call was open, none had ended shortly before, and nobody else speaks on this connection
	Own                  // it is in the call's answer, or on the stream that is the call's own
)

// A Row of the table: what a sign is worth, and which link makes it certain. A
// sign with a weaker one is ambiguous.
type Row struct {
	Sign   Sign
	Weight Weight
	Needs  Link
	// Reported tells whether an enrolled observer may sign it. Its word makes a tool
	// suspect at most, whatever the weight.
	Reported bool
}

var table = []Row{
	{OutputUnfit, Contradicts, Own, true},
	{MetadataMoved, Contradicts, Own, true},
	{ReadWrote, Contradicts, Own, true},
	{EgressUnsaid, Contradicts, Own, true},
	{ModelAsked, Doubts, Alone, true},
	{ReadAsked, Doubts, Alone, true},
	{ErrorOrders, Doubts, Own, true},
	{UserAsked, Strays, Alone, false},
	{RootsAsked, Strays, Alone, false},
	{ListMoved, Strays, Alone, false},
	{ErrorDoubtful, Strays, Own, false},
	{OutputMissing, Strays, Own, false},
	{MemberUnasked, Strays, Own, false},
	{ContentUnasked, Strays, Own, false},
	{SecretUnasked, Strays, Own, false},
}

// Table is a copy of the table, in its order.
func Table() []Row { return slices.Clone(table) }

// RowOf is the row of a sign. One that is not known contradicts, with any link.
func RowOf(s Sign) (r Row, known bool) {
	for _, r := range table {
		if r.Sign == s {
			return r, true
		}
	}
	return Row{Sign: s}, false
}

// Reportable tells whether an enrolled observer may sign the sign.
func Reportable(s Sign) bool {
	r, ok := RowOf(s)
	return ok && r.Reported
}

// A Sighting is a sign with the link by which it is one call's.
type Sighting struct {
	Sign Sign
	Link Link
}

// Certain tells whether the sighting is held against anybody.
func (s Sighting) Certain() bool {
	r, _ := RowOf(s.Sign)
	return s.Link >= r.Needs
}

// String is the word for the weight.
func (w Weight) String() string {
	return [...]string{"contradicts", "doubts", "strays"}[min(w, Strays)]
}

// String is the link's name.
func (l Link) String() string { return [...]string{"unlinked", "alone", "own"}[min(l, Own)] }

// words are the words of a text in lower case.
func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 0x80)
	}) {
		out[w] = true
	}
	return out
}
