package cases_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/cases"
)

func Example() {
	rules, _ := policy.Load([]byte("rules:\n  - {name: pages, allow: [get_page]}\n"))
	f, _ := cases.Load([]byte("cases:\n  - {name: reading, tool: get_page, want: allow}\n  - {name: writing, tool: put_page, want: ask}\n"))
	for _, c := range f.Cases {
		d := policy.Of(rules).Decide(c.Facts)
		fmt.Println(c.Name, c.Holds(d), d.Verb(), d.Reason())
	}
	// Output:
	// reading true allow rule_allow
	// writing false deny no_rule
}
