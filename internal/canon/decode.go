package canon

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Unmarshal decodes one JSON text into v, strictly: names are case-sensitive,
// duplicate and unknown members are refused, as is everything that JSON
// refuses. A member that is absent leaves its field alone: required members are
// for the caller to check.
func Unmarshal(data []byte, v any, lim Limits) error {
	if _, err := JSON(data, lim); err != nil {
		return err
	}
	err := json.Unmarshal(data, v, json.RejectUnknownMembers(true))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, json.ErrUnknownName):
		return ErrMember
	}
	// The cause is a text of the library and may repeat the value: only errors
	// that a type of ours raised pass on.
	if se, ok := errors.AsType[*json.SemanticError](err); ok && se.Err != nil {
		return fmt.Errorf("%w: %w", ErrShape, &quiet{se.Err})
	}
	return ErrShape
}

// quiet hides the text of a cause, which may hold what was decoded, and keeps
// its identity for errors.Is.
type quiet struct{ cause error }

func (q *quiet) Error() string        { return "see the documentation of the member" }
func (q *quiet) Is(target error) bool { return errors.Is(q.cause, target) }

// Marshal returns the canonical form of v: one value, one text.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("canon: %w", err)
	}
	return JSON(b, Limits{Bytes: len(b), AllowNUL: true})
}
