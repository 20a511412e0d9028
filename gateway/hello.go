package gateway

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/guard/content"
)

// What an agent says of itself goes upstream when a session is opened, before any
// decision and under every profile. So it is brought to what is of use there: no
// way for values beside the one path (RULES.md 4).

// maxSaid is the longest text of it, in bytes.
const maxSaid = 128

// said is a hello as it goes upstream: the capabilities that are carried, a few
// short texts of clientInfo, and nothing else.
func (g *Gateway) said(h mcp.Hello) mcp.Hello {
	h.Capabilities = mcp.ClientCapabilities(h.Capabilities)
	h.Rest = nil
	if h.ClientInfo == nil {
		return h
	}
	var set []mcp.Member
	for name, v := range mcp.Members(h.ClientInfo) {
		if !slices.Contains([]string{"name", "title", "version"}, name) {
			continue
		}
		if t, ok := mcp.String(v); ok && len(t) <= maxSaid && !g.guard.namesText(t) && content.Place(t) == t { // which cuts credentials off
			set = append(set, mcp.Member{Name: name, Value: v})
		}
	}
	for _, name := range []string{"name", "version"} { // which must be there
		if !slices.ContainsFunc(set, func(m mcp.Member) bool { return m.Name == name }) {
			set = append(set, mcp.Member{Name: name, Value: jsontext.Value(`"unnamed"`)})
		}
	}
	h.ClientInfo = mcp.Object(set...)
	return h
}
