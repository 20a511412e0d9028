package guard_test

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard"
)

// TestManyViolations: what is refused a hundred thousand times costs no more than its
// length, since only the first places are looked for. A square of it would take minutes.
func TestManyViolations(t *testing.T) {
	const n = 200_000
	list := "[" + strings.TrimSuffix(strings.Repeat(`"..",`, n), ",") + "]"
	parts := `["` + strings.Repeat(`","`, n) + strings.Repeat("..,", n) + `"]`
	set, rule := config(t, `paths: {within: [docs]}`), constrain(t, `{ids: {one_of: ["1"]}, paths: {within: [docs]}}`)
	for name, raw := range map[string]string{
		"paths": `{"paths":` + list + `}`, "parts": `{"paths":` + parts + `}`, "ids": `{"ids":` + list + `,"paths":["docs/a"]}`,
	} {
		for what, s := range map[string]*guard.Set{"defaults": set, "rule": rule} {
			got := s.Check(call(t, "write", raw))
			if want := name != "ids" || what == "rule"; (len(got) > 0) != want || len(got) > 16 {
				t.Errorf("%s, %s: %d told", name, what, len(got))
			}
		}
	}
}
