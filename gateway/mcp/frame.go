package mcp

import "github.com/go-json-experiment/json/jsontext"

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
	panic("to be written")
}

// Bytes is the frame's JSON text, on one line, without a line end.
func (f Frame) Bytes() []byte { return f.Append(nil) }

// NumberID is the id of a number.
func NumberID(n int64) ID { panic("to be written") }

// StringID is the id of a text.
func StringID(s string) ID { panic("to be written") }
