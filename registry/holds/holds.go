// Package holds keeps what was withheld from agents until an operator releases
// or condemns it: results, messages and questions of upstreams, whole and as
// they came, encrypted, with what was found in them.
//
// A folder of holds belongs to one data folder and is shared by all of its
// processes. What is released or condemned is one subject (RULES.md 35): this
// origin, tool, version, kind, path and digest, and nothing beside it. The acts
// are an operator's, signed, good for ten minutes and once; a release stands for
// as long as its signer is an operator, a condemnation until a release undoes it.
//
// Room is bounded. No agent and no origin gets more than a quarter of it, and what
// makes room for a new hold is the oldest of whoever has most: so nobody pushes
// out what others hold. What was pushed out is counted and said (RULES.md 40).
package holds

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry"
)

// Errors of holds. On each of them nothing is released.
var (
	ErrDamaged   = errors.New("holds: a file of the folder is damaged or was changed by somebody else")
	ErrMissing   = errors.New("holds: no such hold: released long ago, past its retention, or pushed out by others of its agent")
	ErrAct       = errors.New("holds: the act was not made by an operator for exactly this")
	ErrSpent     = errors.New("holds: the act was used before")
	ErrOwn       = errors.New("holds: a registrant releases nothing of its own tool")
	ErrCondemned = errors.New("holds: the subject is condemned")
	ErrNotKept   = errors.New("holds: the content was too large to be kept, and what nobody has read is not released")
	ErrLimit     = errors.New("holds: more acts than a folder holds")
	ErrRate      = errors.New("holds: more than is kept of one agent and origin at once")
	ErrOptions   = errors.New("holds: the key, the audience or the subject is unusable")
)

// Bounds and defaults.
const (
	KeySize          = 32
	MaxContent       = 16 << 20            // bytes of one content; of larger ones only the digest is kept
	DefaultQuota     = 1 << 30             // bytes of all holds of a folder
	DefaultCount     = 40_000              // holds of a folder
	DefaultRetention = 30 * 24 * time.Hour // of a hold; acts have none
	MaxActs          = 20_000              // standing releases and condemnations
	MaxFindings      = 512                 // kept of one hold, or fewer where their paths are long
	ActLife          = 10 * time.Minute    // how long after it was signed an act can be used
)

// share is the part of the quota that one agent, or one origin, may fill.
const share = 4

// A Subject is what an act is about, and all of it (RULES.md 35). It is
// comparable. Digest is over the content as it came, by Digest.
type Subject struct {
	Origin string             `json:"origin"`        // text form
	Tool   credentials.ToolID `json:"tool,omitzero"` // of the registration or the baseline; empty: of no item
	Gen    uint64             `json:"gen,omitzero"`
	Ver    uint64             `json:"ver,omitzero"`
	Kind   quarantine.Kind    `json:"kind"`          // of what it is, by KindOf
	Path   string             `json:"path,omitzero"` // within what came; empty: the whole
	Digest credentials.Digest `json:"digest"`
}

// A Form says what the content of a hold is, and so how it is taken apart.
type Form string

// The forms.
const (
	FormResult  Form = "result"  // the result of a request, JSON
	FormError   Form = "error"   // the error of a request, JSON: {"code","message","data"}
	FormMessage Form = "message" // the params of a notification or a question, JSON
)

// KindOf is what an act on a content of this form and method is about: the same bytes
// are one thing as a line of a log and another one as a request to a model, and in an
// error something else than in a result. It begins with the kind of the place, result
// or message: "message:sampling/createMessage", "result:tools/call",
// "result:tools/call:error".
func KindOf(form Form, method string) quarantine.Kind {
	kind := quarantine.KindResult
	if form == FormMessage {
		kind = quarantine.KindMessage
	}
	kind += quarantine.Kind(":" + cutText(method))
	if form == FormError {
		kind += ":error"
	}
	return kind
}

// Place is the kind of the place: result or message.
func (sub *Subject) Place() quarantine.Kind {
	place, _, _ := strings.Cut(string(sub.Kind), ":")
	return quarantine.Kind(place)
}

// A Hold is one thing that is withheld, without its content. Put fills in ID, At,
// Size and Kept.
type Hold struct {
	ID string `json:"id"` // hold_ and a ULID
	Subject
	At     int64  `json:"at"` // milliseconds since the epoch
	Form   Form   `json:"form"`
	Method string `json:"method,omitzero"` // of the request or the message

	Agent    credentials.AgentID `json:"agent,omitzero"` // of a launch: empty, since each has another
	Run      string              `json:"run,omitzero"`
	Call     string              `json:"call,omitzero"`
	Upstream string              `json:"upstream,omitzero"` // the operator's name for it
	Item     string              `json:"item,omitzero"`     // kind of the item that was called: tool, prompt, resource, template
	Name     string              `json:"name,omitzero"`     // of the item
	Mdg      credentials.Digest  `json:"mdg,omitzero"`      // of the item
	Owner    credentials.KeyID   `json:"owner,omitzero"`    // a registrant's key, where there is one

	Reason   string               `json:"reason"`       // of the policy: result_held, changed_after, …
	Cut      bool                 `json:"cut,omitzero"` // the agent got the rest
	Verdict  quarantine.Verdict   `json:"verdict"`      // of the inspector
	Findings []quarantine.Finding `json:"findings,omitzero"`
	Engine   string               `json:"engine,omitzero"`

	Size int64 `json:"size"` // bytes of the content
	Kept bool  `json:"kept"` // the content is there
}

// Options are what a store needs beside its folder. Key, Operators and Audience are
// required where acts are to be taken.
type Options struct {
	Key    []byte           // KeySize bytes; LoadKey reads or makes it
	Now    func() time.Time // nil: time.Now
	Random io.Reader        // nil: crypto/rand
	// Operators verifies acts by the keys that are operators' now; nil refuses them
	// all.
	Operators envelope.Verifier
	// Audience is what acts of this folder name as aud: the name of its log.
	Audience string
	// Unprotected tells of a key that it lies unencrypted on this machine, so that
	// its acts are recorded as unprotected (RULES.md 13). nil: none is known to.
	Unprotected func(credentials.KeyID) bool
	// Record has an act in the decision log before it takes effect; on an error it
	// has none. nil: acts are not recorded, for tests.
	Record    func(e *registry.Entry) error
	Quota     int64         // bytes; 0: DefaultQuota
	Count     int           // holds; 0: DefaultCount
	Retention time.Duration // 0: DefaultRetention
}

// A Pushed says how many holds of an agent and an origin made room for others, or
// were never kept.
type Pushed struct {
	Agent  credentials.AgentID `json:"agent,omitzero"`
	Origin string              `json:"origin"`
	Count  uint64              `json:"count"`
	Last   int64               `json:"last"` // milliseconds since the epoch
}
