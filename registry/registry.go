// Package registry is the vocabulary of the record: tools, principals, origins
// and the events that change them, the commands that ask for a change, and the
// shapes in which all of them travel over HTTP.
//
// Everything that is true follows from one ordered log of events
// (registry/store keeps it, registry/ledger proves it); registry/state folds
// the log into tables, registry/writer is the one way to add to it and
// registry/api serves it.
package registry

import (
	"errors"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// Errors of commands: a command that is refused has changed nothing. The
// comment says what the caller does about it.
var (
	ErrNotFound        = errors.New("no such record")                                               // give up
	ErrNotOwner        = errors.New("only the tool's registrant may do this")                       // give up
	ErrNotOperator     = errors.New("only an operator may do this")                                 // give up
	ErrNotObserver     = errors.New("only an observer that an operator enrolled may do this")       // give up
	ErrOwnTool         = errors.New("nobody observes a tool of their own")                          // give up
	ErrAction          = errors.New("the handle does not carry this action")                        // use another handle
	ErrStaleGeneration = errors.New("the handle is of an earlier generation of this tool")          // renew the handle
	ErrStaleBase       = errors.New("base is not the digest of the tool's current version")         // read the tool again
	ErrHandleRevoked   = errors.New("the handle was revoked")                                       // renew the handle
	ErrToolRevoked     = errors.New("the tool was revoked")                                         // register another
	ErrNameTaken       = errors.New("the name is taken at this origin")                             // choose another name
	ErrNameKept        = errors.New("the name was revoked and is kept for its last owner")          // wait, or choose another
	ErrNotEnrolled     = errors.New("this registry takes only enrolled registrants")                // ask the operator
	ErrTooMany         = errors.New("quota reached")                                                // wait, or ask the operator
	ErrCondemned       = errors.New("the principal, origin or tool is condemned")                   // give up
	ErrReserved        = errors.New("the origin's topology gives this name to others")              // give up
	ErrExists          = errors.New("the record exists already")                                    // nothing to do
	ErrNotHeld         = errors.New("the recipient's acceptance does not fit this transfer")        // ask for another
	ErrSpent           = errors.New("this signed statement was spent before")                       // make a new one
	ErrTooLate         = errors.New("the time for this has passed")                                 // give up
	ErrUnchanged       = errors.New("the metadata is that of the current version")                  // nothing to do
	ErrGatewayOrigin   = errors.New("only the gateway writes stdio: and channel: origins")          // give up
	ErrCommandReused   = errors.New("the command id was used for another request")                  // use a fresh id
	ErrDepth           = errors.New("a delegated handle delegates no further")                      // ask the owner
	ErrWider           = errors.New("a delegation must be narrower than the handle it comes from")  // ask for less
	ErrStaleView       = errors.New("the registry's view is stale or poisoned; nothing is decided") // retry later
	ErrUnknownOutcome  = errors.New("outcome unknown; retry with the same command id")              // retry
	ErrKeyNotUsable    = errors.New("the signing key of this token is not usable")                  // renew
)

// EmergencyHold is how long a recovery key or operator may undo a transfer
// (RULES.md 26).
const EmergencyHold = 72 * time.Hour

// NameKept is how long a revoked name stays with its last owner (RULES.md 18).
const NameKept = 90 * 24 * time.Hour

// MaxBatch is the largest number of tools in one registration.
const MaxBatch = 1000

// MaxMetadata is the largest metadata of one tool, in bytes as received.
const MaxMetadata = 1 << 20

// A CommandID lets a retry get the first outcome: 16 to 64 characters of
// [A-Za-z0-9_-], chosen by whoever sends the command.
type CommandID string

// ParseCommandID checks the form of a command id.
func ParseCommandID(s string) (CommandID, error) {
	if _, err := credentials.ParseTokenID(s); err != nil {
		return "", fmt.Errorf("command id is not 16 to 64 characters of [A-Za-z0-9_-]")
	}
	return CommandID(s), nil
}

// A RegistrationPolicy says who may register.
type RegistrationPolicy string

// The registration policies. The zero value takes nobody who is not enrolled.
const (
	PolicyEnrolled RegistrationPolicy = "enrolled" // only principals that the operator enrolled for the origin, or a topology row attests
	PolicyOpen     RegistrationPolicy = "open"     // any key may hold names at unattested origins
)

// Quotas bound what one principal can cost (RULES.md 18, 40). They hold before
// anything is signed or appended.
type Quotas struct {
	NamesPerOrigin   int // live names of one principal at one unattested origin
	ToolsPerOwner    int // live tools of one principal in all
	Overwrites       int // overwrites of one tool per hour
	DelegationsTool  int // live delegations of one tool
	ContestsPerName  int // recorded contests of one name
	PrincipalsOrigin int // principals enrolled for one origin
	ReviewsTool      int // open reviews of one tool
	Observations     int // of one observer per hour
}

// DefaultQuotas are the quotas of a registry that names none.
func DefaultQuotas() Quotas {
	return Quotas{NamesPerOrigin: 2000, ToolsPerOwner: 50_000, Overwrites: 600, DelegationsTool: 64, ContestsPerName: 16, PrincipalsOrigin: 256,
		ReviewsTool: 64, Observations: 600}
}
