package mcp

import (
	"errors"
	"fmt"
)

// Limits bound what a decoder takes. A zero field is the default.
type Limits struct {
	Bytes int // of one frame: a line, an event's data, a body; default DefaultBytes
	Depth int // nesting of arrays and objects, the frame's own counted; default DefaultDepth
	Batch int // members of an array of frames; default DefaultBatch
}

// Defaults of Limits. Items that nest deeper than internal/canon allows but not
// deeper than this are withheld alone, and do not take their list along.
const (
	DefaultBytes = 16 << 20
	DefaultDepth = 128
	DefaultBatch = 100
)

// Errors of a text that is no frame. None repeats any of it.
var (
	ErrSyntax  = errors.New("mcp: not valid JSON")                        // also: trailing data, byte order mark, invalid UTF-8, a half of a surrogate pair
	ErrTwice   = errors.New("mcp: an object has two members of one name") // compared after unescaping
	ErrDepth   = errors.New("mcp: nested too deep")
	ErrSize    = errors.New("mcp: too long")
	ErrFold    = errors.New("mcp: a member's name differs from a known one in case only")
	ErrFrame   = errors.New("mcp: not a JSON-RPC 2.0 message")
	ErrID      = errors.New("mcp: an id must be a string or a number, and not null")
	ErrBoth    = errors.New("mcp: more than one of method, result and error")
	ErrBatch   = errors.New("mcp: an empty, nested or too large array of messages")
	ErrParams  = errors.New("mcp: params must be an object")
	ErrNoBatch = errors.New("mcp: arrays of messages are not spoken here")
)

// A FrameError says why a text is no frame, and whom to tell.
type FrameError struct {
	ID   ID    // of the request, where it could be read beyond doubt; empty: answer with a null id
	Code int64 // of JSON-RPC
	// Shape is what the text would have been as far as it could be read: answer what
	// would have been a Request, and NoFrame; a Result or Failure answers a request
	// of ours, and is never answered.
	Shape Shape
	Err   error // one of the above
}

func (e *FrameError) Error() string { return fmt.Sprintf("%v (%d)", e.Err, e.Code) }

// Unwrap is the sentinel.
func (e *FrameError) Unwrap() error { return e.Err }

// Answer is the Failure frame that tells the sender.
func (e *FrameError) Answer() Frame { return Fail(e.ID, e.Code, e.Err.Error(), nil) }

func (l Limits) filled() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if l.Batch <= 0 {
		l.Batch = DefaultBatch
	}
	return l
}
