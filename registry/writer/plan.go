package writer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
)

// A plan is what follows from one command at one position of the log. decide
// reads, and either refuses or plans events that are certain to apply.
type plan struct {
	tx      *state.Txn
	now     time.Time
	at      int64 // milliseconds since the epoch
	quotas  *registry.Quotas
	policy  registry.RegistrationPolicy
	rate    rates
	events  []registry.Event
	content []store.Blob
	// keepsRecord: the command is refused, and the events say so for the
	// operator.
	keepsRecord bool
}

// decide is the table of commands. What is not in it is refused.
func (p *plan) decide(cmd registry.Command) error {
	switch c := cmd.(type) {
	case *registry.Register:
		return p.register(c)
	case *registry.Replace:
		return p.replace(c)
	case *registry.RevokeTool:
		return p.revokeTool(c)
	case *registry.Transfer:
		return p.transfer(c)
	case *registry.UndoTransfer:
		return p.undoTransfer(c)
	case *registry.RevokeHandles:
		return p.revokeHandles(c)
	case *registry.RevokeHandle:
		return p.revokeHandle(c)
	case *registry.CreateDelegation:
		return p.createDelegation(c)
	case *registry.RevokeDelegation:
		return p.revokeDelegation(c)
	case *registry.CreatePrincipal:
		return p.createPrincipal(c)
	case *registry.EnrolPrincipal:
		return p.enrolPrincipal(c)
	case *registry.RecoverPrincipal:
		return p.recoverPrincipal(c)
	case *registry.ReportTool:
		return p.reportTool(c)
	}
	return p.decideOperator(cmd)
}

// decideOperator is the part of the table that operators and the service
// itself send.
func (p *plan) decideOperator(cmd registry.Command) error {
	switch c := cmd.(type) {
	case *registry.Condemn:
		return p.condemn(c)
	case *registry.ReleaseTool:
		return p.releaseTool(c)
	case *registry.CreateAgent:
		return p.createAgent(c)
	case *registry.RevokeAgent:
		return p.revokeAgent(c)
	case *registry.EnrolObserver:
		return p.observer(c.Caller, c.Principal, true)
	case *registry.DismissObserver:
		return p.observer(c.Caller, c.Principal, false)
	case *registry.RecordInspection:
		return p.recordInspection(c)
	case *registry.RecordConduct:
		return p.recordConduct(c)
	case *registry.RecordUse:
		return p.recordUse(c)
	case *registry.RecordTopology:
		return p.recordTopology(c)
	case *registry.RecordKeys:
		return p.recordKeys(c)
	case *registry.EnrolOperator:
		return p.enrolOperator(c)
	case *registry.RecordRestore:
		return p.recordRestore(c)
	case *registry.RecordAnchor:
		return p.recordAnchor(c)
	}
	return fmt.Errorf("%w: command %T", registry.ErrNotFound, cmd)
}

func (p *plan) add(typ registry.EventType, data any) error {
	e, err := registry.NewEvent(typ, p.at, "", "", data) // command and caller are the writer's to fill in
	if err != nil {
		return err
	}
	p.events = append(p.events, e)
	return nil
}

// next numbers the next event of a tool.
func next(t *registry.Tool) registry.ToolData {
	return registry.ToolData{ID: t.Row.Tool, Gen: t.Gen, Ver: t.Ver, N: t.Events + 1, Last: t.Index}
}

// shows is the tool that a holder's handle is of, if the handle is good here
// and now: the view that admitted the request may be older than this one.
func (p *plan) shows(h registry.Holder) (*registry.Tool, error) {
	c := h.Claims()
	if c == nil { // the zero Holder holds nothing
		return nil, registry.ErrNotOwner
	}
	if err := p.tx.Live(c); err != nil {
		return nil, err
	}
	return p.tx.Tool(c.ToolID)
}

// holds is the tool that a holder may do this to.
func (p *plan) holds(h registry.Holder, a credentials.Action) (*registry.Tool, error) {
	t, err := p.shows(h)
	if err != nil {
		return nil, err
	}
	if !credentials.Narrower([]credentials.Action{a}, h.Claims().Act) {
		return nil, registry.ErrAction
	}
	if gives := p.tx.Gives(t, p.now); gives != nil && !slices.Contains(gives, a) {
		return nil, fmt.Errorf("%w: the origin's topology does not give it", registry.ErrAction)
	}
	if a == credentials.Revoke {
		return t, nil // ending a tool is open even to the condemned
	}
	for _, k := range []credentials.KeyID{t.Owner, h.Caller().Key()} {
		if pr, err := p.tx.Principal(k.Principal()); err == nil && pr.Condemned {
			return nil, registry.ErrCondemned
		}
	}
	return t, nil
}

// holdsBase is holds for an act that replaces a version: base must be it.
func (p *plan) holdsBase(h registry.Holder, a credentials.Action, base credentials.Digest) (*registry.Tool, error) {
	t, err := p.holds(h, a)
	if err != nil {
		return nil, err
	}
	if t.Digest != base {
		return nil, registry.ErrStaleBase
	}
	return t, nil
}

func (p *plan) operator(c registry.Caller) error {
	if c.Local() || p.tx.IsOperator(c.Key()) {
		return nil
	}
	return registry.ErrNotOperator
}

// local refuses what only the service itself may record.
func (p *plan) local(c registry.Caller) error {
	if c.Local() {
		return nil
	}
	return registry.ErrNotOperator
}

// known plans the creation of a principal that is not on record yet.
func (p *plan) known(k credentials.KeyID, jwk []byte) (*registry.Principal, error) {
	pr, err := p.tx.Principal(k.Principal())
	if err == nil {
		if pr.Condemned || pr.Moved != "" {
			return nil, registry.ErrCondemned
		}
		return pr, nil
	}
	if !errors.Is(err, registry.ErrNotFound) {
		return nil, err
	}
	if len(jwk) == 0 {
		return nil, fmt.Errorf("%w: principal", registry.ErrNotFound)
	}
	return nil, p.add(registry.PrincipalCreated, registry.PrincipalData{ID: k.Principal(), JWK: jwk})
}

// rates bounds how often one tool changes, and one observer speaks, so that
// re-registration of near-copies makes no oracle of the labels (RULES.md 22). It
// is this process's memory, not the log's; keys are ids.
type rates map[string]*rate.Limiter

const ratesKept = 1 << 14

func (r rates) allow(t string, perHour int, now time.Time) bool {
	if perHour <= 0 {
		return false
	}
	l := r[t]
	if l == nil {
		if len(r) >= ratesKept {
			for k, x := range r { // drop those that have filled up again
				if x.TokensAt(now) >= float64(x.Burst()) {
					delete(r, k)
				}
			}
			if len(r) >= ratesKept {
				return false
			}
		}
		l = rate.NewLimiter(rate.Limit(float64(perHour)/3600), perHour)
		r[t] = l
	}
	return l.AllowN(now, 1)
}
