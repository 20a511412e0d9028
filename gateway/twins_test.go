package gateway

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
)

// Names that a server could take for each other are found among few and many, at any
// depth, in all that Unicode folds.
func TestTwins(t *testing.T) {
	h := newHouse(t, newServer(tool("it")), "personal")
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"m%d":%d,`, i, i)
		}
		return b.String()
	}
	for _, n := range []int{0, 1, 15, 16, 31, 32, 33, 5000} {
		for _, pair := range []string{
			`"branch":1,"Branch":2`, `"BRANCH":1,"brancH":2`, `"task":1,"tas\u212a":2`, `"\u017fize":1,"Size":2`, `"straße":1,"STRAẞE":2`, `"ΣΑΣ":1,"σας":2`,
		} {
			for _, at := range []string{`{%s%s}`, `{"a":[{"b":{%s%s}}]}`} {
				p := params{tool: true, args: fmt.Appendf(nil, at, many(n), pair)}
				tree, err := args.Parse(p.args)
				if err != nil {
					t.Fatal(err)
				}
				if err := h.gw.twins(&p, tree, nil); !errors.Is(err, ErrTwins) {
					t.Errorf("%d and %s: %v", n, pair, err)
				}
				tree.Release()
			}
		}
		p := params{tool: true, args: []byte(`{` + many(n) + `"branch":{"Branch":[{"BRANCH":1}]},"brunch":1,"b-ranch":2,"@":1,"` + "`" + `":2}`)}
		tree, err := args.Parse(p.args)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.gw.twins(&p, tree, nil); err != nil {
			t.Errorf("%d: %v", n, err)
		}
		tree.Release()
	}
}
