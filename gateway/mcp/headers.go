package mcp

import (
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Names of HTTP headers.
const (
	HeaderSession   = "Mcp-Session-Id"
	HeaderVersion   = "Mcp-Protocol-Version"
	HeaderLastEvent = "Last-Event-Id"
	HeaderMethod    = "Mcp-Method"
	HeaderName      = "Mcp-Name"
	HeaderParam     = "Mcp-Param-" // a prefix
)

// ErrHeader says that a schema marks for a header what no header may carry, or an
// argument so marked is of such a kind.
var ErrHeader = errors.New("mcp: only strings, safe integers and booleans travel in headers, each under a name of its own")

const base64Before, base64After = "=?base64?", "?="

// EncodeHeader is the form of a text in an Mcp-Name or Mcp-Param-* header: as it
// is, or in Base64 where it could not travel so (SEP-2243).
func EncodeHeader(s string) string {
	if !needsBase64(s) {
		return s
	}
	return base64Before + base64.StdEncoding.EncodeToString([]byte(s)) + base64After
}

func needsBase64(s string) bool {
	if s == "" {
		return false
	}
	if first, last := s[0], s[len(s)-1]; first == ' ' || last == ' ' {
		return true
	}
	if strings.HasPrefix(s, base64Before) && strings.HasSuffix(s, base64After) {
		return true
	}
	return strings.IndexFunc(s, func(c rune) bool { return c < 0x20 || c > 0x7e }) >= 0
}

// DecodeHeader reads that form; false if the Base64 is broken.
func DecodeHeader(s string) (string, bool) {
	in, ok := strings.CutPrefix(s, base64Before)
	if !ok {
		return s, true
	}
	if in, ok = strings.CutSuffix(in, base64After); !ok {
		return s, true
	}
	out, err := base64.StdEncoding.DecodeString(in)
	return string(out), err == nil
}

// A ParamHeader is one parameter that a tool's schema wants in a header too.
type ParamHeader struct {
	Header string   // with the prefix
	Path   []string // of property names
}

// ParamHeaders are the parameters that an inputSchema marks with x-mcp-header, in
// the order of their headers. ErrHeader if a mark is none that the revision
// allows: clients leave such a tool out.
func ParamHeaders(inputSchema jsontext.Value) ([]ParamHeader, error) {
	var out []ParamHeader
	if err := paramHeaders(inputSchema, nil, &out); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b ParamHeader) int {
		return strings.Compare(strings.ToLower(a.Header), strings.ToLower(b.Header))
	})
	for i := 1; i < len(out); i++ {
		if strings.EqualFold(out[i-1].Header, out[i].Header) {
			return nil, ErrHeader
		}
	}
	return out, nil
}

func paramHeaders(schema jsontext.Value, path []string, out *[]ParamHeader) error {
	properties, _ := Get(schema, "properties")
	for name, property := range Members(properties) {
		at := append(slices.Clip(path), name)
		if mark, ok := Get(property, "x-mcp-header"); ok {
			header, isText := String(mark)
			kind, _ := GetString(property, "type")
			if !isText || !isToken(header) || kind != "string" && kind != "integer" && kind != "boolean" {
				return ErrHeader
			}
			*out = append(*out, ParamHeader{HeaderParam + header, at})
		}
		if err := paramHeaders(property, at, out); err != nil {
			return err
		}
	}
	return nil
}

// isToken tells whether a text may be the name of a header (RFC 9110, token).
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	}) < 0
}

// maxSafe is the largest integer that a 64-bit float counts to without a gap.
const maxSafe = 1<<53 - 1

// HeaderValue is what the header of a parameter says for given arguments; false:
// the header is absent, as is the parameter, or it is null. ErrHeader if it
// is of a kind that no header carries.
func (p ParamHeader) HeaderValue(arguments jsontext.Value) (string, bool, error) {
	text, ok, err := p.plain(arguments)
	return EncodeHeader(text), ok, err
}

func (p ParamHeader) plain(arguments jsontext.Value) (string, bool, error) {
	v, ok := Get(arguments, p.Path...)
	if !ok {
		return "", false, nil
	}
	switch v.Kind() {
	case 'n':
		return "", false, nil
	case '"':
		return unquote(v), true, nil
	case 't', 'f':
		return string(v), true, nil
	case '0':
		if n, ok := safeInteger(string(v)); ok {
			return strconv.FormatInt(n, 10), true, nil
		}
	}
	return "", false, ErrHeader
}

func safeInteger(s string) (int64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxSafe {
		return 0, false
	}
	return int64(f), true
}

// Matches tells whether a header's value as received says the same as the
// arguments; present is whether there was such a header.
func (p ParamHeader) Matches(value string, present bool, arguments jsontext.Value) bool {
	want, needed, err := p.plain(arguments)
	if err != nil || needed != present {
		return err == nil && !needed && value == "" // an empty header is an absent one
	}
	if !present {
		return true
	}
	got, ok := DecodeHeader(value)
	if !ok {
		return false
	}
	if v, _ := Get(arguments, p.Path...); v.Kind() == '0' {
		n, ok := safeInteger(got)
		return ok && strconv.FormatInt(n, 10) == want
	}
	return got == want
}
