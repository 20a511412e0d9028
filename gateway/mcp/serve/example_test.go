package serve

import (
	"fmt"
	"net/http/httptest"
	"strings"
)

// A handler is mounted at its path. Without a credential nothing is answered; an
// agent with one opens a session and is given an id for it.
func Example() {
	h := newHandler(&fakeGateway{}, Options{}) // NewHandler, of a *gateway.Gateway
	post := func(path string) {
		r := httptest.NewRequest("POST", "http://127.0.0.1:8080"+path, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(w.Code, len(w.Header().Get("Mcp-Session-Id")))
	}
	post("/mcp")
	post("/mcp/" + alice)
	// Output:
	// 401 0
	// 200 32
}
