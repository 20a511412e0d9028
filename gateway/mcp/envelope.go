package mcp

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

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
	meta, err := names.clash(object)
	if err != nil || meta == nil || meta[0] == 'n' {
		return err // some servers write null for what they have not
	}
	if meta[0] != '{' {
		return ErrFrame
	}
	_, err = metaNames.clash(meta)
	return err
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
