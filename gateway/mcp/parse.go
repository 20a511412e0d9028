package mcp

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
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
	ErrDepth   = errors.New("mcp: nested too deep")                       //
	ErrSize    = errors.New("mcp: too long")                              //
	ErrFold    = errors.New("mcp: a member's name differs from a known one in case only")
	ErrFrame   = errors.New("mcp: not a JSON-RPC 2.0 message") //
	ErrID      = errors.New("mcp: an id must be a string or a number, and not null")
	ErrBoth    = errors.New("mcp: more than one of method, result and error") //
	ErrBatch   = errors.New("mcp: an empty, nested or too large array of messages")
	ErrParams  = errors.New("mcp: params must be an object") //
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

// Parse decodes one frame, or an array of frames, in one strict pass: valid
// UTF-8, no byte order mark, no duplicate names at any depth, no trailing data,
// bounded depth and size. The members jsonrpc, id, method, params, result and
// error, those that the method's row names in params, and those that results are
// known to have, must not stand there in another case; params of methods in the
// table are objects. Frames share data, which must not be changed afterwards.
//
// All errors are *FrameError. In a batch, only what spoils the whole array is
// one; a member that is no frame comes as a Frame of shape NoFrame with its id,
// if that could be read, and the error to answer.
func Parse(data []byte, lim Limits) (frames []Frame, batch bool, err error) {
	panic("to be written")
}

// ParseOne is Parse where arrays are not spoken: ErrNoBatch.
func ParseOne(data []byte, lim Limits) (Frame, error) {
	panic("to be written")
}

// FoldClash is ErrFold if the object has a member whose name is not among the
// known ones and becomes one by Unicode case folding: somebody else would read
// the one where we read the other.
func FoldClash(object jsontext.Value, known []string) error {
	panic("to be written")
}
