package mcp

import (
	"bytes"
	"errors"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/marks"
)

// maxID bounds the text of an id.
const maxID = 1024

// Parse decodes one frame, or an array of frames, in one strict pass: valid
// UTF-8, no byte order mark, no duplicate names at any depth, no trailing data,
// bounded depth and size. The members jsonrpc, id, method, params, result and
// error, those that the method's row names in params, and those that results and
// _meta are known to have, must not stand there in another case; params of
// methods in the table are objects. Frames share data, which must not be changed
// afterwards.
//
// All errors are *FrameError. In a batch, only what spoils the whole array is
// one; a member that is no frame comes as a Frame of shape NoFrame with its id,
// if that could be read, and the error to answer.
func Parse(data []byte, lim Limits) (frames []Frame, batch bool, err error) {
	lim = lim.filled()
	start := marks.Space(data, 0)
	batch = start < len(data) && data[start] == '['
	if err := precheck(data, start, batch, lim); err != nil {
		return nil, batch, failed(data, err)
	}
	d := decoders.Get().(*decoder)
	defer d.free()
	d.reset(data)
	if batch {
		frames, err = d.batch(lim)
	} else {
		var e envelope
		if err = d.envelope(&e); err == nil {
			frames = make([]Frame, 1)
			err = e.frame(&frames[0])
		}
	}
	if err == nil && marks.Space(data, int(d.dec.InputOffset())) != len(data) {
		err = ErrSyntax
	}
	if err != nil {
		return nil, batch, failed(data, err)
	}
	return frames, batch, nil
}

// ParseOne is Parse where arrays are not spoken: ErrNoBatch.
func ParseOne(data []byte, lim Limits) (Frame, error) {
	if start := marks.Space(data, 0); start < len(data) && data[start] == '[' {
		return Frame{}, &FrameError{Code: CodeInvalidRequest, Err: ErrNoBatch}
	}
	frames, _, err := Parse(data, lim)
	if err != nil {
		return Frame{}, err
	}
	return frames[0], nil
}

// precheck refuses cheaply what the decoder need not see.
func precheck(data []byte, start int, batch bool, lim Limits) error {
	depth := lim.Depth
	if batch {
		depth++
	}
	switch {
	case len(data) > lim.Bytes:
		return ErrSize
	case start >= len(data) || !batch && data[start] != '{':
		if jsontext.Value(data).IsValid() {
			return ErrFrame
		}
		return ErrSyntax
	case deeper(data, depth):
		return ErrDepth
	}
	return nil
}

// failed makes the error of a text, with as much of the frame as can be read.
func failed(data []byte, err error) error {
	if _, ok := errors.AsType[*jsontext.SyntacticError](err); ok || !isOurs(err) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			err = ErrTwice
		} else {
			err = ErrSyntax
		}
	}
	var s skim
	s.feed(data)
	seen := s.seen()
	e := &FrameError{ID: seen.ID, Code: codeOf(err), Shape: seen.Shape, Err: err}
	if errors.Is(err, ErrID) {
		e.ID = ""
	}
	return e
}

// isOurs tells whether an error is one of the sentinels as it stands.
func isOurs(err error) bool {
	switch err {
	case ErrSyntax, ErrTwice, ErrDepth, ErrSize, ErrFold, errParamsFold, ErrFrame, ErrID, ErrBoth, ErrBatch, ErrParams, ErrNoBatch:
		return true
	}
	return false
}

func codeOf(err error) int64 {
	switch err {
	case ErrSyntax:
		return CodeParse
	case ErrParams, errParamsFold:
		return CodeInvalidParams
	}
	return CodeInvalidRequest
}

// A decoder is a jsontext.Decoder on a text in memory, which it does not copy.
type decoder struct {
	buf  bytes.Buffer
	dec  *jsontext.Decoder
	data []byte
}

var decoders = sync.Pool{New: func() any { return &decoder{dec: jsontext.NewDecoder(bytes.NewReader(nil))} }}

func (d *decoder) reset(data []byte) {
	d.data = data
	d.buf = *bytes.NewBuffer(data)
	d.dec.Reset(&d.buf)
}

// free lets go of the text.
func (d *decoder) free() {
	d.reset(nil)
	decoders.Put(d)
}

// value reads one value, as a part of the text.
func (d *decoder) value() (jsontext.Value, error) {
	v, err := d.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(d.dec.InputOffset())
	return d.data[end-len(v) : end : end], nil
}

// batch reads an array of frames.
func (d *decoder) batch(lim Limits) ([]Frame, error) {
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	var frames []Frame
	for d.dec.PeekKind() != ']' {
		if len(frames) >= lim.Batch {
			return nil, ErrBatch
		}
		var f Frame
		if d.dec.PeekKind() == '{' {
			var e envelope
			if err := d.envelope(&e); err != nil {
				return nil, err
			}
			if err := e.frame(&f); err != nil {
				f = e.broken(err)
			}
		} else {
			v, err := d.value()
			if err != nil {
				return nil, err
			}
			why := ErrFrame
			if v[0] == '[' {
				why = ErrBatch
			}
			f = Frame{Error: &Error{Code: CodeInvalidRequest, Message: why.Error()}}
		}
		frames = append(frames, f)
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	if len(frames) == 0 {
		return nil, ErrBatch
	}
	return frames, nil
}
