package ledger

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// witnessTries bounds how often a witness is asked again because another
// replica moved it on in between.
const witnessTries = 3

// Proofs gives consistency proofs; Tiles does.
type Proofs interface {
	ConsistencyProof(ctx context.Context, old, size uint64) ([]Hash, error)
}

// WitnessAheadError says that a witness has cosigned a larger log than the one
// that asks. At a start this is evidence of a rollback.
type WitnessAheadError struct {
	Size uint64 // what the witness has cosigned
}

// Error implements error.
func (e *WitnessAheadError) Error() string {
	return fmt.Sprintf("ledger: witness has cosigned size %d, which is larger", e.Size)
}

// Unwrap makes errors.Is(err, ErrRollback) true.
func (e *WitnessAheadError) Unwrap() error { return ErrRollback }

// AskWitness submits a checkpoint note to the witness under url
// (c2sp.org/tlog-witness) and returns its cosignature lines, unverified:
// Policy.AddCosignatures verifies and adds them. old is the size that the
// witness is believed to have cosigned last (0 if unknown: it then says which).
//
// ErrRollback (a *WitnessAheadError): the witness knows a larger log. ErrFork:
// it knows another log. Any other error says nothing about the log.
func AskWitness(ctx context.Context, hc *http.Client, url string, raw []byte, old uint64, proofs Proofs) (lines string, err error) {
	base, err := baseURL(url)
	if err != nil {
		return "", err
	}
	_, h, err := ParseUnverified(raw)
	if err != nil {
		return "", err
	}
	hc = strict(hc)
	if old > h.Size {
		old = 0 // a size from nowhere: let the witness say its own
	}
	for range witnessTries {
		p, err := proofs.ConsistencyProof(ctx, old, h.Size)
		if err != nil {
			return "", err
		}
		a, err := exchange(ctx, hc, http.MethodPost, base+"/add-checkpoint", witnessRequest(old, p, raw), MaxNote)
		if err != nil {
			return "", err
		}
		switch a.status {
		case http.StatusOK:
			return cosignatureLines(a.body)
		case http.StatusConflict:
			size, ok := decimal(strings.TrimSuffix(string(a.body), "\n"), maxSize)
			switch {
			case old == h.Size && (!ok || size == old): // it agrees on the size, so it is the root
				return "", fmt.Errorf("%w: witness knows another root for size %d", ErrFork, old)
			case !ok || size == old:
				return "", fmt.Errorf("%w: conflict without another size", ErrAnswer)
			case size > h.Size:
				return "", &WitnessAheadError{size}
			}
			old = size
		case http.StatusUnprocessableEntity:
			return "", fmt.Errorf("%w: witness finds no consistency from size %d", ErrFork, old)
		default:
			return "", fmt.Errorf("%w: witness answers %d", ErrAnswer, a.status)
		}
	}
	return "", fmt.Errorf("%w: witness moved on %d times", ErrAnswer, witnessTries)
}

// witnessRequest is the body of add-checkpoint.
func witnessRequest(old uint64, p []Hash, raw []byte) []byte {
	b := []byte("old " + strconv.FormatUint(old, 10) + "\n")
	for _, h := range p {
		b = base64.StdEncoding.AppendEncode(b, h[:])
		b = append(b, '\n')
	}
	b = append(b, '\n')
	return append(b, raw...)
}

// ParseWitnessRequest reads the body of add-checkpoint; the note in it is not
// verified. Anything else than the one spelling of the format is ErrNote.
func ParseWitnessRequest(body []byte) (old uint64, p []Hash, raw []byte, err error) {
	head, raw, ok := bytes.Cut(body, []byte("\n\n"))
	if !ok {
		return 0, nil, nil, fmt.Errorf("%w: no empty line", ErrNote)
	}
	lines := strings.Split(string(head), "\n")
	size, ok := strings.CutPrefix(lines[0], "old ")
	if ok {
		old, ok = decimal(size, maxSize)
	}
	if !ok || len(lines) > 1+63 {
		return 0, nil, nil, fmt.Errorf("%w: old size", ErrNote)
	}
	for _, l := range lines[1:] {
		h, err := base64.StdEncoding.Strict().DecodeString(l)
		if err != nil || len(h) != len(Hash{}) || len(l) != hash64Len {
			return 0, nil, nil, fmt.Errorf("%w: proof line", ErrNote)
		}
		p = append(p, Hash(h))
	}
	return old, p, raw, nil
}

// cosignatureLines checks only that the answer is made of signature lines.
func cosignatureLines(b []byte) (string, error) {
	s := string(b)
	if s == "" || !strings.HasSuffix(s, "\n") {
		return "", fmt.Errorf("%w: no signature lines", ErrAnswer)
	}
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if !strings.HasPrefix(l, "— ") {
			return "", fmt.Errorf("%w: not a signature line", ErrAnswer)
		}
	}
	return s, nil
}
