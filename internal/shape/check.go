package shape

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A Fault is one place where a value does not fit. Its Error is ErrUnfit's with
// the place, without any of the value.
type Fault struct {
	Path    string // JSON Pointer into the value; empty: the value itself, or not known
	Keyword string // of the schema: type, required, additionalProperties …; empty: not known
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Keyword == "" {
		return ErrUnfit.Error()
	}
	return fmt.Sprintf("%v: %s at %q", ErrUnfit, f.Keyword, f.Path)
}

// Unwrap is ErrUnfit.
func (f *Fault) Unwrap() error { return ErrUnfit }

// place is how many steps are spent on where a fault stands, once it is known
// that there is one.
const place = 1 << 16

// Check holds a value against the shape. The error is a *Fault, which is
// ErrUnfit, or ErrUndecided.
func (sh *Shape) Check(value []byte) error {
	if sh.names != nil {
		return sh.checkClosed(value)
	}
	purse := purse{sh.lim.Steps}
	if sh.quickly(value, &purse) {
		return nil
	}
	return sh.slowly(value, &purse)
}

// slowly has the library judge.
func (sh *Shape) slowly(value []byte, patterns *purse) error {
	var seen census
	if err := seen.take(value, sh.lim.Value, sh.lim.Depth); err != nil {
		return fmt.Errorf("%w: %w", ErrUndecided, err)
	}
	if sh.meter.dear(seen.values, sh.lim.Steps) {
		return ErrUndecided
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return ErrUndecided
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.meter.patterns = patterns
	// Valid against {"not": schema} is unfit.
	unfit, err := sh.run(sh.quick, v, sh.lim.Steps)
	if err != nil || unfit != nil {
		return err
	}
	why, err := sh.run(sh.full, v, min(place, sh.lim.Steps))
	if err != nil { // that it does not fit is known; not where
		return &Fault{}
	}
	return faultOf(why, sh.names != nil)
}

// run is what the library says of a value: nil if it fits. err is ErrUndecided.
func (sh *Shape) run(s *jsonschema.Schema, v any, steps int) (why *jsonschema.ValidationError, err error) {
	defer func() {
		if r := recover(); r != nil { // the meter ran out, or the library met what it did not expect
			why, err = nil, ErrUndecided
		}
	}()
	sh.meter.left = steps
	switch err := s.Validate(v); {
	case err == nil:
		return nil, nil
	case errors.As(err, &why):
		return why, nil
	}
	return nil, ErrUndecided
}

// faultOf is the first place that an error names, the deepest one below it. A
// schema that refers to itself without end says nothing of any value. Where missing is
// set, what is missing is the place, not the object that lacks it.
func faultOf(e *jsonschema.ValidationError, missing bool) error {
	if e == nil {
		return ErrUndecided // the two readings differ: a fault of ours
	}
	for len(e.Causes) > 0 && e.ErrorKind != nil {
		if _, ok := e.ErrorKind.(*kind.AnyOf); ok {
			break
		}
		if _, ok := e.ErrorKind.(*kind.OneOf); ok {
			break
		}
		e = e.Causes[0]
	}
	if cyclic(e) {
		return ErrUndecided
	}
	f := &Fault{}
	if e.ErrorKind != nil {
		f.Keyword = strings.Join(e.ErrorKind.KeywordPath(), "/")
	}
	at := e.InstanceLocation
	if k, ok := e.ErrorKind.(*kind.Required); ok && missing && len(k.Missing) > 0 {
		at = append(at[:len(at):len(at)], k.Missing[0])
	}
	for _, t := range at {
		f.Path += "/" + pointerText.Replace(t)
	}
	return f
}

func cyclic(e *jsonschema.ValidationError) bool {
	if _, ok := e.ErrorKind.(*kind.RefCycle); ok {
		return true
	}
	for _, c := range e.Causes {
		if cyclic(c) {
			return true
		}
	}
	return false
}
