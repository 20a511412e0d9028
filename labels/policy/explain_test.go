package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
)

func ExampleExplain() {
	rules, err := policy.Load([]byte("rules:\n  - {name: docs, allow: [write_file], when: 'args.path.startsWith(\"docs/\")'}\n  - {name: mail, ask: [send_mail]}\n"))
	if err != nil {
		panic(err)
	}
	f := policy.Facts{Profile: policy.Personal, Method: "tools/call", Tool: "write_file", Args: []byte(`{"path":"src/a.go"}`)}
	for _, l := range policy.Explain(policy.Of(rules), f).Layers {
		for _, c := range l.Candidates {
			fmt.Println(l.Layer, c.Rule.Name, c.Fires, c.Why)
		}
	}
	// Output: organisation docs false its condition is false
}

// TestExplain: an explanation says of each rule about the item whether it fires and
// why, and comes to the decision.
func TestExplain(t *testing.T) {
	rules := mustLoad(t, []byte(`rules:
  - {name: all, allow: [t]}
  - {name: method, allow: [t], methods: [prompts/get]}
  - {name: origin, never: [t], origins: ["stdio:y"]}
  - {name: agent, never: [t], agents: [cat]}
  - {name: effect, never: [t], effects: [read]}
  - {name: rate, ask: [t], rate: {over: 3, per: hour}}
  - {name: known, ask: [t], new: [to]}
  - {name: untrue, never: ["*"], when: 'args.a == 2'}
  - {name: errs, allow: [t], when: 'args.b == 2'}
  - {name: args, allow: [t], args: {a: {max: 0}}}
  - {name: tried, never: [t], when: 'args.a == 1', shadow: true}
  - {name: other, never: [u]}
`))
	f := good()
	f.Args = []byte(`{"a":1}`)
	x := policy.Explain(policy.Layers{Organisation: rules, Intent: sealed(t, "")}.Policy(), f)
	if x.Outside != policy.OutsideIntent || x.Decision.Reason() != policy.OutsideIntent || x.Floor != "" || x.Unfit || len(x.Guards) != 0 {
		t.Errorf("%+v", x)
	}
	if len(x.Layers) != 2 || x.Layers[1].Layer != "intent" || x.Layers[0].Decision.Verb() != policy.Allow {
		t.Errorf("%+v", x.Layers)
	}
	want := map[string]string{"all": policy.WhyAll, "method": policy.WhyMethod, "origin": policy.WhyOrigin, "agent": policy.WhyAgent, "effect": policy.WhyEffect, "rate": policy.WhyRate,
		"known": policy.WhyKnown, "untrue": policy.WhyFalse, "errs": policy.WhyErrs, "args": policy.WhyArgs, "tried": policy.WhyAll}
	for _, c := range x.Layers[0].Candidates {
		if want[c.Rule.Name] != c.Why || c.Fires != (c.Why == policy.WhyAll) || (c.Why == policy.WhyArgs) != (strings.Join(c.Paths, ",") == "/a") {
			t.Errorf("%s: fires %v, %s, %v", c.Rule.Name, c.Fires, c.Why, c.Paths)
		}
		delete(want, c.Rule.Name)
	}
	if len(want) != 0 {
		t.Errorf("nothing of %v", want)
	}
	f.Counts, f.Fit, f.Args = policy.Counts{}, policy.Unfit, []byte(`{"a":2,"path":"../../x"}`)
	x = policy.Explain(policy.Of(rules), f)
	if !x.Unfit || x.Decision.Rule() != "untrue" || len(x.Guards) == 0 {
		t.Errorf("%+v", x)
	}
	for _, c := range x.Layers[0].Candidates {
		if c.Rule.Name == "rate" && (c.Why != policy.WhyUnknown || !c.Fires) {
			t.Errorf("rate: %s", c.Why)
		}
	}
	lone := policy.Of(mustLoad(t, []byte("rules:\n  - {name: r, ask: [t], when: 'effect.write'}\n")))
	if c := policy.Explain(lone, good()).Layers[0].Candidates[0]; c.Why != policy.WhyNobody {
		t.Error(c.Why)
	}
	none := good()
	none.Gate = policy.NotShown
	if x := policy.Explain(policy.Of(nil), none); x.Floor != policy.ReasonNotShown || len(x.Layers) != 0 {
		t.Errorf("what there is not: %+v", x)
	}
	if x := policy.Explain(policy.Of(nil), good()); len(x.Layers) != 1 || x.Layers[0].Layer != "profile" || x.Layers[0].Decision.Verb() != policy.Allow {
		t.Errorf("what is cleared: %+v", x)
	}
	if x := policy.Explain(refuser{}, f); x.Decision.Verb() != policy.Deny || x.Layers != nil {
		t.Errorf("%+v", x)
	}
}
