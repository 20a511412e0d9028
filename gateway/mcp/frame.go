package mcp

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Ask is a request.
func Ask(id ID, method string, params jsontext.Value) Frame {
	return Frame{Shape: Request, ID: id, Method: method, Params: params}
}

// Note is a notification.
func Note(method string, params jsontext.Value) Frame {
	return Frame{Shape: Notification, Method: method, Params: params}
}

// Answer is a result.
func Answer(id ID, result jsontext.Value) Frame {
	return Frame{Shape: Result, ID: id, Result: result}
}

// Fail is an error as an answer. Data may be nil.
func Fail(id ID, code int64, message string, data jsontext.Value) Frame {
	return Frame{Shape: Failure, ID: id, Error: &Error{Code: code, Message: message, Data: data}}
}

// Append appends the frame's JSON text, on one line: raw members byte for byte,
// but for line breaks between tokens. A Failure without an id has a null one. The
// frame must be one that Parse or the makers above gave.
func (f Frame) Append(dst []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	switch {
	case f.ID != "":
		dst = append(dst, `,"id":`...)
		dst = append(dst, f.ID...)
	case f.Error != nil:
		dst = append(dst, `,"id":null`...)
	}
	if f.Method != "" {
		dst = append(dst, `,"method":`...)
		dst = appendQuote(dst, f.Method)
	}
	if f.Params != nil {
		dst = append(dst, `,"params":`...)
		dst = appendLine(dst, f.Params)
	}
	if f.Result != nil {
		dst = append(dst, `,"result":`...)
		dst = appendLine(dst, f.Result)
	}
	if f.Error != nil {
		dst = append(dst, `,"error":`...)
		dst = f.Error.append(dst)
	}
	dst = appendRest(dst, f.Rest)
	return append(dst, '}')
}

// Object is the error as its JSON text.
func (e *Error) Object() jsontext.Value { return e.append(nil) }

// With is the error as another text of it says, but for the code, which stays.
func (e *Error) With(object jsontext.Value) *Error {
	out := &Error{Code: e.Code}
	for name, v := range Members(object) {
		switch name {
		case "code":
		case "message":
			out.Message, _ = String(v)
		case "data":
			out.Data = v
		default:
			out.Rest = append(out.Rest, Member{name, v})
		}
	}
	return out
}

func (e *Error) append(dst []byte) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, e.Code, 10)
	dst = append(dst, `,"message":`...)
	dst = appendQuote(dst, e.Message)
	if e.Data != nil {
		dst = append(dst, `,"data":`...)
		dst = appendLine(dst, e.Data)
	}
	dst = appendRest(dst, e.Rest)
	return append(dst, '}')
}

func appendRest(dst []byte, rest []Member) []byte {
	for _, m := range rest {
		dst = append(dst, ',')
		dst = append(appendQuote(dst, m.Name), ':')
		dst = appendLine(dst, m.Value)
	}
	return dst
}

// appendLine appends a JSON value without its line breaks. In valid JSON these
// stand between tokens only, never inside one, and never apart two that would
// become one.
func appendLine(dst, v []byte) []byte {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return append(dst, v...)
	}
	for len(v) > 0 {
		i := bytes.IndexAny(v, "\r\n")
		if i < 0 {
			return append(dst, v...)
		}
		dst = append(dst, v[:i]...)
		v = v[i+1:]
	}
	return dst
}

// Bytes is the frame's JSON text, on one line, without a line end.
func (f Frame) Bytes() []byte { return f.Append(make([]byte, 0, f.size())) }

// size is about the length of the text.
func (f Frame) size() int {
	n := 64 + len(f.ID) + len(f.Method) + len(f.Params) + len(f.Result)
	if f.Error != nil {
		n += 64 + len(f.Error.Message) + len(f.Error.Data)
	}
	for _, m := range f.Rest {
		n += len(m.Name) + len(m.Value) + 8
	}
	return n
}

// NumberID is the id of a number.
func NumberID(n int64) ID { return ID(strconv.FormatInt(n, 10)) }

// StringID is the id of a text.
func StringID(s string) ID { return ID(Quote(s)) }
