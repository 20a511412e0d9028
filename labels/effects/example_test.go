package effects_test

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
)

func ExampleTable_Judge() {
	file, err := effects.ParseFile([]byte(`
effects:
  - upstream: gitlab
    tools:
      get_issue: read
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	table := effects.NewTable(file)
	claims := jsontext.Value(`{"name":"get_issue","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`)
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, upstream := range []string{"gitlab", "another"} {
		e, by := table.Judge(effects.Tool{Upstream: upstream, Name: "get_issue"}, labels.Pinned, claims, at)
		fmt.Printf("%s: %v, by %q\n", upstream, e, by)
	}
	// Output:
	// gitlab: read, by "file"
	// another: unclassified, by ""
}
