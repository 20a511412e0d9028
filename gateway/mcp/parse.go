package mcp

import (
	"bytes"
	"errors"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
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
	start := skipSpace(data, 0)
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
	if err == nil && skipSpace(data, int(d.dec.InputOffset())) != len(data) {
		err = ErrSyntax
	}
	if err != nil {
		return nil, batch, failed(data, err)
	}
	return frames, batch, nil
}

// ParseOne is Parse where arrays are not spoken: ErrNoBatch.
func ParseOne(data []byte, lim Limits) (Frame, error) {
	if start := skipSpace(data, 0); start < len(data) && data[start] == '[' {
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

// An envelope holds the members of a frame before anything is made of them.
type envelope struct {
	jsonrpc, id, method, params, result, err jsontext.Value
	rest                                     []Member
	fold                                     bool
}

// envelope reads one object. Its errors are the decoder's.
func (d *decoder) envelope(e *envelope) error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	for d.dec.PeekKind() != '}' {
		name, err := d.value()
		if err != nil {
			return err
		}
		if name[0] != '"' {
			return ErrSyntax
		}
		to := e.member(string(name[1 : len(name)-1]))
		var text string
		if to == nil {
			if text = unquote(name); bytes.IndexByte(name, '\\') >= 0 {
				to = e.member(text)
			}
		}
		v, err := d.value()
		if err != nil {
			return err
		}
		if to != nil {
			*to = v
			continue
		}
		e.fold = e.fold || envelopeNames.folded[fold(text)]
		e.rest = append(e.rest, Member{text, v})
	}
	_, err := d.dec.ReadToken()
	return err
}

var envelopeNames = newNameSet("jsonrpc", "id", "method", "params", "result", "error")

func (e *envelope) member(name string) *jsontext.Value {
	switch name {
	case "jsonrpc":
		return &e.jsonrpc
	case "id":
		return &e.id
	case "method":
		return &e.method
	case "params":
		return &e.params
	case "result":
		return &e.result
	case "error":
		return &e.err
	}
	return nil
}

// broken is what a batch holds in the place of a member that is no frame.
func (e *envelope) broken(err error) Frame {
	f := Frame{Error: &Error{Code: codeOf(err), Message: err.Error()}}
	if err != ErrID {
		f.ID, _ = e.ident()
	}
	return f
}

// ident is the id, and whether it is one.
func (e *envelope) ident() (ID, bool) {
	if len(e.id) == 0 || len(e.id) > maxID || e.id[0] != '"' && e.id[0] != '-' && (e.id[0] < '0' || e.id[0] > '9') {
		return "", false
	}
	return ID(e.id), true
}

// frame makes the frame.
func (e *envelope) frame(f *Frame) error {
	if e.fold {
		return ErrFold
	}
	if unquote(e.jsonrpc) != "2.0" {
		return ErrFrame
	}
	id, ok := e.ident()
	nullFailure := e.err != nil && (e.id == nil || e.id[0] == 'n')
	if e.id != nil && !ok && !nullFailure {
		return ErrID
	}
	f.ID, f.Rest = id, e.rest
	switch {
	case e.method != nil && e.result == nil && e.err == nil:
		return e.call(f)
	case e.method == nil && e.result != nil && e.err == nil && ok && e.params == nil:
		f.Shape, f.Result = Result, e.result
		if err := checkMeta(e.result, resultNames); err != nil {
			return err
		}
		return nil
	case e.method == nil && e.result == nil && e.err != nil && e.params == nil:
		f.Shape = Failure
		return e.failure(f)
	case e.method == nil && e.result == nil && e.err == nil:
		return ErrFrame
	}
	if e.result != nil && !ok {
		return ErrID
	}
	return ErrBoth
}

// call fills a request or notification.
func (e *envelope) call(f *Frame) error {
	f.Shape, f.Params = Notification, e.params
	if f.ID != "" {
		f.Shape = Request
	}
	if len(e.method) < 3 || e.method[0] != '"' {
		return ErrFrame
	}
	m, known := table[string(e.method[1:len(e.method)-1])]
	if !known {
		m, known = table[unquote(e.method)]
	}
	if !known {
		f.Method = unquote(e.method)
		if e.params != nil && e.params[0] != '{' && e.params[0] != '[' {
			return ErrParams
		}
		return nil
	}
	f.Method = m.Name
	if e.params == nil {
		return nil
	}
	if e.params[0] != '{' {
		return ErrParams
	}
	switch err := checkMeta(e.params, m.names); err {
	case nil:
		return nil
	case ErrFold:
		return errParamsFold
	default:
		return ErrParams
	}
}

// errParamsFold is ErrFold with another code.
var errParamsFold = &paramsFold{}

type paramsFold struct{}

func (*paramsFold) Error() string        { return ErrFold.Error() }
func (*paramsFold) Is(target error) bool { return target == ErrFold }

// checkMeta holds the names of an object against those known in its place, and
// those in its _meta too. What is no object has none.
func checkMeta(object jsontext.Value, names nameSet) error {
	if err := names.clash(object); err != nil {
		return err
	}
	meta, ok := Get(object, "_meta")
	if !ok {
		return nil
	}
	if meta[0] != '{' {
		return ErrFrame
	}
	return metaNames.clash(meta)
}

// failure fills the error of a frame.
func (e *envelope) failure(f *Frame) error {
	if e.err[0] != '{' {
		return ErrFrame
	}
	f.Error = &Error{}
	code, message := false, false
	w, _ := walk(e.err)
	for {
		s, ok := w.next()
		if !ok {
			break
		}
		v := jsontext.Value(w.b[s.value:s.valueEnd:s.valueEnd])
		switch name := w.name(s); name {
		case "code":
			n, err := strconv.ParseInt(string(v), 10, 64)
			f.Error.Code, code = n, err == nil
		case "message":
			f.Error.Message, message = String(v)
		case "data":
			f.Error.Data = v
		default:
			if errorNames.folded[fold(name)] {
				return ErrFold
			}
			f.Error.Rest = append(f.Error.Rest, Member{name, v})
		}
	}
	if !code || !message {
		return ErrFrame
	}
	return nil
}

var errorNames = newNameSet("code", "message", "data")
