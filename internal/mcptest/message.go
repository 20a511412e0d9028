package mcptest

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Message is a frame as it was received, with a look into it.
type Message struct {
	Raw    []byte
	ID     string // its JSON text; empty: none
	Method string
	Params JSON
	Result JSON
	Error  JSON
	Batch  []Message // of an array; nothing else is set then
	Status int       // of the HTTP answer that it came with; 0: none
}

// Decode looks into a frame. Of what is not valid JSON only Raw is set.
func Decode(raw []byte) Message {
	m := Message{Raw: raw}
	var list []JSON
	if json.Unmarshal(raw, &list) == nil && list != nil {
		for _, one := range list {
			m.Batch = append(m.Batch, Decode(one))
		}
		return m
	}
	var members map[string]JSON
	if json.Unmarshal(raw, &members) != nil {
		return m
	}
	if id := members["id"]; id.Kind() != 'n' {
		m.ID = string(id)
	}
	m.Method = Text(members["method"])
	m.Params, m.Result, m.Error = members["params"], members["result"], members["error"]
	return m
}

// Path is the value at a path of member names and indexes; nil if there is none.
func Path(v JSON, path ...string) JSON {
	for _, at := range path {
		switch v.Kind() {
		case '{':
			var members map[string]JSON
			if json.Unmarshal(v, &members) != nil {
				return nil
			}
			v = members[at]
		case '[':
			var list []JSON
			i, err := strconv.Atoi(at)
			if err != nil || json.Unmarshal(v, &list) != nil || i < 0 || i >= len(list) {
				return nil
			}
			v = list[i]
		default:
			return nil
		}
	}
	return v
}

// Text is the text of a JSON string, or of the string at a path; empty if there is
// none.
func Text(v JSON, path ...string) string {
	var s string
	if v = Path(v, path...); v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// Number is the integer at a path; 0 if there is none.
func Number(v JSON, path ...string) int64 {
	n, _ := strconv.ParseInt(string(Path(v, path...)), 10, 64)
	return n
}

// Code is the code of the error; 0 if there is none.
func (m Message) Code() int64 { return Number(m.Error, "code") }

// Text is the text of the first content block.
func (m Message) Text() string { return Text(m.Result, "content", "0", "text") }

// IsError is whether the answer says that the call failed: an error, or a result
// that says so.
func (m Message) IsError() bool {
	return m.Error != nil || string(Path(m.Result, "isError")) == "true"
}

// Names are the names (or, of resources and templates, the URIs) of the items in a
// list's result.
func (m Message) Names() []string {
	var out []string
	for _, of := range []struct{ list, name string }{{"tools", "name"}, {"prompts", "name"}, {"resources", "uri"}, {"resourceTemplates", "uriTemplate"}} {
		var items []JSON
		if list := Path(m.Result, of.list); list != nil && json.Unmarshal(list, &items) == nil {
			for _, item := range items {
				out = append(out, Text(item, of.name))
			}
		}
	}
	return out
}

func quote(s string) JSON {
	b, _ := jsontext.AppendQuote(nil, s)
	return b
}

// object makes an object of names and values (string, JSON in turn); nil values
// are left out.
func object(pairs ...any) JSON {
	out := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		v, _ := pairs[i+1].(JSON)
		if v == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		name, _ := pairs[i].(string)
		out = append(append(out, quote(name)...), ':')
		out = append(out, v...)
	}
	return append(out, '}')
}

func array(values []JSON) JSON {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// with adds members (string, JSON in turn) in front of those of an object that it
// lacks.
func with(v JSON, pairs ...any) JSON {
	var members map[string]JSON
	if json.Unmarshal(v, &members) != nil || members == nil {
		return v
	}
	var missing []any
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		if _, there := members[name]; !there {
			missing = append(missing, pairs[i], pairs[i+1])
		}
	}
	head := object(missing...)
	switch {
	case len(head) == 2:
		return v
	case len(members) == 0:
		return head
	}
	rest := v[1:]
	for v[0] != '{' { // blanks in front
		v, rest = v[1:], v[2:]
	}
	return append(append(head[:len(head)-1:len(head)-1], ','), rest...)
}

func request(id JSON, method string, params JSON) JSON {
	return object("jsonrpc", quote("2.0"), "id", id, "method", quote(method), "params", params)
}

func answer(id string, result JSON) JSON {
	return object("jsonrpc", quote("2.0"), "id", JSON(id), "result", result)
}

func failure(id string, code int, message string) JSON {
	return failed(id, object("code", JSON(strconv.Itoa(code)), "message", quote(message)))
}

func failed(id string, err JSON) JSON {
	if id == "" {
		id = "null"
	}
	return object("jsonrpc", quote("2.0"), "id", JSON(id), "error", err)
}
