// Package witness is a small witness (c2sp.org/tlog-witness): it remembers the
// largest checkpoint it has cosigned for each log and cosigns only what
// provably extends it, so that a log cannot show two histories to clients that
// demand its cosignature.
//
// What it rests on is its memory. Keep its key in its state folder: whoever
// loses the folder must lose the name too, since a witness that has forgotten
// would cosign a second history.
package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/pratique-dev/pratique/registry/ledger"
)

// maxBody is a note, 63 proof lines and the old size.
const maxBody = ledger.MaxNote + 64*64

// State is the witness's durable memory: per log, the last checkpoint note
// that it may have cosigned.
type State interface {
	// Load returns nil for a log that was never saved.
	Load(ctx context.Context, origin string) ([]byte, error)
	// Save returns nil once the note survives a power cut. After an error
	// either note may be what the next Load returns.
	Save(ctx context.Context, origin string, note []byte) error
}

// Witness cosigns for a fixed set of logs. It is an http.Handler for
// POST /add-checkpoint, and for GET /key, which shows its verifier key. Safe
// for concurrent use; no two witnesses may share a State.
type Witness struct {
	cosigner *ledger.Cosigner
	state    State
	logs     map[string]*log
}

type log struct {
	policy ledger.Policy
	mu     sync.Mutex // held from reading the state to answering: one at a time
}

// New makes a witness for the logs of these policies (one per origin; the log
// keys count, witnesses in them do not). It reads the state of each, so that a
// damaged memory stops the start.
func New(ctx context.Context, c *ledger.Cosigner, s State, policies ...ledger.Policy) (*Witness, error) {
	w := &Witness{cosigner: c, state: s, logs: make(map[string]*log)}
	for _, p := range policies {
		if w.logs[p.Origin()] != nil || p.Origin() == "" {
			return nil, fmt.Errorf("%w: one policy per origin", ledger.ErrKey)
		}
		w.logs[p.Origin()] = &log{policy: p}
		if _, err := w.head(ctx, p.Origin()); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// head is the last head that may have been cosigned. The note was verified
// before it was saved, and is not again: its key may have been retired since.
func (w *Witness) head(ctx context.Context, origin string) (ledger.Head, error) {
	raw, err := w.state.Load(ctx, origin)
	if err != nil {
		return ledger.Head{}, fmt.Errorf("witness: state of %s: %w", origin, err)
	}
	if raw == nil {
		return ledger.EmptyHead(), nil
	}
	o, h, err := ledger.ParseUnverified(raw)
	if err == nil && o != origin {
		err = ledger.ErrOrigin
	}
	if err != nil {
		return ledger.Head{}, fmt.Errorf("witness: state of %s: %w", origin, err)
	}
	return h, nil
}

// Errors of Add beside those of package ledger; each has its HTTP status.
var (
	errUnknownLog = errors.New("witness: unknown log") // 404
	errConflict   = errors.New("witness: conflict")    // 409, with the size
	errProof      = errors.New("witness: inconsistent")
	errState      = errors.New("witness: state failed") // 500
)

// add does everything between request body and cosignature lines. size is the
// cosigned size where err is errConflict.
func (w *Witness) add(ctx context.Context, body []byte) (lines string, size uint64, err error) {
	old, proof, raw, err := ledger.ParseWitnessRequest(body)
	if err != nil {
		return "", 0, err
	}
	origin, _, err := ledger.ParseUnverified(raw)
	if err != nil {
		return "", 0, err
	}
	l := w.logs[origin]
	if l == nil {
		return "", 0, errUnknownLog
	}
	cp, err := l.policy.Open(raw)
	if err != nil {
		return "", 0, err
	}
	if old > cp.Size {
		return "", 0, fmt.Errorf("%w: old size is larger", ledger.ErrNote)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	cur, err := w.head(ctx, origin)
	switch {
	case err != nil:
		return "", 0, errors.Join(errState, err)
	case old != cur.Size, cp.Size == cur.Size && cp.Root != cur.Root:
		return "", cur.Size, errConflict
	}
	if err := ledger.VerifyConsistency(cur, cp.Head, proof); err != nil {
		return "", 0, errors.Join(errProof, err)
	}
	// Saved first: after a crash in between we may have cosigned it or not, and
	// will cosign nothing that contradicts it. The caller's going away must not
	// leave the outcome open.
	if cp.Head != cur {
		if err := w.state.Save(context.WithoutCancel(ctx), origin, raw); err != nil {
			return "", 0, errors.Join(errState, err)
		}
	}
	lines, err = w.cosigner.Cosign(cp)
	return lines, 0, err
}

// ServeHTTP implements http.Handler.
func (w *Witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case r.URL.Path == "/key" && r.Method == http.MethodGet:
		send(rw, http.StatusOK, "text/plain; charset=utf-8", w.cosigner.VerifierKey()+"\n")
	case r.URL.Path != "/add-checkpoint":
		fail(rw, http.StatusNotFound)
	case r.Method != http.MethodPost:
		rw.Header().Set("Allow", http.MethodPost)
		fail(rw, http.StatusMethodNotAllowed)
	default:
		w.serveAdd(rw, r)
	}
}

func (w *Witness) serveAdd(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	if err != nil {
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			fail(rw, http.StatusRequestEntityTooLarge)
			return
		}
		fail(rw, http.StatusBadRequest)
		return
	}
	lines, size, err := w.add(r.Context(), body)
	switch {
	case err == nil:
		send(rw, http.StatusOK, "text/plain; charset=utf-8", lines)
	case errors.Is(err, errConflict):
		send(rw, http.StatusConflict, "text/x.tlog.size", strconv.FormatUint(size, 10)+"\n")
	case errors.Is(err, errState): // before ErrNote, which a damaged state is too
		fail(rw, http.StatusInternalServerError)
	case errors.Is(err, errUnknownLog):
		fail(rw, http.StatusNotFound)
	case errors.Is(err, ledger.ErrSignature):
		fail(rw, http.StatusForbidden)
	case errors.Is(err, errProof):
		fail(rw, http.StatusUnprocessableEntity)
	case errors.Is(err, ledger.ErrNote):
		fail(rw, http.StatusBadRequest)
	default:
		fail(rw, http.StatusInternalServerError)
	}
}

func send(rw http.ResponseWriter, status int, kind, body string) {
	rw.Header().Set("Content-Type", kind)
	rw.WriteHeader(status)
	io.WriteString(rw, body)
}

func fail(rw http.ResponseWriter, status int) {
	http.Error(rw, http.StatusText(status), status)
}
