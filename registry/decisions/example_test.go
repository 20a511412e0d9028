package decisions_test

import (
	"context"
	"fmt"
	"os"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

func Example() {
	data, err := os.MkdirTemp("", "data")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(data)
	l, err := decisions.Open(data, decisions.Options{})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	e := &registry.Entry{Run: "run_1", Method: "tools/call", Name: "write_file", Verb: "allow", Reason: "cleared"}
	ticket, err := l.Decided(context.Background(), e, []byte(`{"path":"/tmp/x"}`), true)
	if err != nil {
		return // nothing is forwarded
	}
	// ... the call is forwarded, and answered ...
	err = l.Finished(ticket, &registry.Entry{Outcome: registry.OutcomeReturned}, []byte(`{"content":[]}`))
	fmt.Println(err)
	for r, err := range decisions.Read(data, decisions.Query{Call: ticket.Call()}) {
		fmt.Println(r.Index, r.Entry.Type, r.Entry.N, r.Entry.Last, r.Entry.Name, r.Entry.Outcome, err)
	}
	// Output:
	// <nil>
	// 0 call.decided 1 0 write_file  <nil>
	// 1 call.finished 2 1  returned <nil>
}
