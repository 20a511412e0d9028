package mcp

import "github.com/go-json-experiment/json/jsontext"

// Names of HTTP headers.
const (
	HeaderSession   = "Mcp-Session-Id"
	HeaderVersion   = "Mcp-Protocol-Version"
	HeaderLastEvent = "Last-Event-Id"
	HeaderMethod    = "Mcp-Method"
	HeaderName      = "Mcp-Name"
	HeaderParam     = "Mcp-Param-" // a prefix
)

// EncodeHeader is the form of a text in an Mcp-Name or Mcp-Param-* header: as it
// is, or in Base64 where it could not travel so (SEP-2243).
func EncodeHeader(s string) string { panic("to be written") }

// DecodeHeader reads that form; false if the Base64 is broken.
func DecodeHeader(s string) (string, bool) { panic("to be written") }

// A ParamHeader is one parameter that a tool's schema wants in a header too.
type ParamHeader struct {
	Header string   // with the prefix
	Path   []string // of property names
}

// ParamHeaders are the parameters that an inputSchema marks with x-mcp-header, in
// the order of their headers. An error if a mark is none that the revision
// allows: clients leave such a tool out.
func ParamHeaders(inputSchema jsontext.Value) ([]ParamHeader, error) { panic("to be written") }

// HeaderValue is what the header of a parameter says for given arguments; false:
// the header is absent, as is the parameter, or it is null. ErrHeader if it
// is of a kind that no header carries.
func (p ParamHeader) HeaderValue(arguments jsontext.Value) (string, bool, error) {
	panic("to be written")
}

// Matches tells whether a header's value as received says the same as the
// arguments; present is whether there was such a header.
func (p ParamHeader) Matches(value string, present bool, arguments jsontext.Value) bool {
	panic("to be written")
}
