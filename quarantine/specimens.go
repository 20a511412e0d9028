package quarantine

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Errors of content that cannot be taken apart. Whoever gets one treats the
// content as not inspected: it is never clear.
var (
	ErrUnreadable = errors.New("quarantine: not strict JSON of the expected shape")
	ErrTooDeep    = errors.New("quarantine: nested too deep")
	ErrTooMany    = errors.New("quarantine: more strings than are inspected")
	ErrItemKind   = errors.New("quarantine: no such kind of item")
)

// Specimens takes one item of a surface apart: every string and every member
// name that an agent may come to read, each with its path and the class of its
// place. kind is tool, prompt, resource, template, instructions (raw is a JSON
// string) or server.
func Specimens(kind string, raw jsontext.Value) ([]Specimen, error) { return nil, ErrUnreadable }

// ResultSpecimens takes the result of a request apart: every string and every
// member name, and JSON inside of strings.
func ResultSpecimens(method string, raw jsontext.Value) ([]Specimen, error) {
	return nil, ErrUnreadable
}

// ErrorSpecimens does the same for the error of a request. data may be nil.
func ErrorSpecimens(message string, data jsontext.Value) ([]Specimen, error) {
	return nil, ErrUnreadable
}

// MessageSpecimens takes the params of what an upstream sends apart:
// notifications and questions. They are inspected as messages.
func MessageSpecimens(method string, params jsontext.Value) ([]Specimen, error) {
	return nil, ErrUnreadable
}
