package mcp_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

func Example() {
	in := []byte(`{"jsonrpc":"2.0","id":1.50,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993}}}`)
	f, err := mcp.ParseOne(in, mcp.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _ := mcp.Lookup(f.Method)
	refs, _ := m.Refs(f.Params)
	fmt.Println(f.ID, refs[0].Kind, refs[0].Name, m.Agent == mcp.Path)

	f.Params, _ = mcp.SetMeta(f.Params, []mcp.Member{{Name: mcp.MetaTraceparent, Value: mcp.Quote("00-1-2-01")}}, mcp.IsProtocolMeta)
	fmt.Printf("%s\n", f.Bytes())

	_, err = mcp.ParseOne([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_note","Name":"delete_note"}}`), mcp.Limits{})
	fmt.Println(err)
	// Output:
	// 1.50 tool echo true
	// {"jsonrpc":"2.0","id":1.50,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993},"_meta":{"traceparent":"00-1-2-01"}}}
	// mcp: a member's name differs from a known one in case only (-32602)
}
