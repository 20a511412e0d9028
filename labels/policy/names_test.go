package policy

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestGuideNames: the guide knows every variable, function and member, so that none is
// left to be guessed.
func TestGuideNames(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range variables {
		names = append(names, "`"+v.name+"`")
		for _, word := range ranks[v.name] {
			names = append(names, "`"+word+"`")
		}
	}
	for name := range judges {
		names = append(names, "`"+name+"(")
	}
	for _, of := range []reflect.Type{reflect.TypeFor[file](), reflect.TypeFor[fileRule]()} {
		for i := range of.NumField() {
			names = append(names, of.Field(i).Tag.Get("yaml"))
		}
	}
	for _, m := range callMethods {
		names = append(names, "`"+m+"`")
	}
	for _, name := range names {
		if name == "" || !strings.Contains(string(text), name) {
			t.Errorf("docs/policy.md does not say %s", name)
		}
	}
}

// TestVariables: each variable that is declared has a value, and nothing else has one.
func TestVariables(t *testing.T) {
	f := &Facts{}
	j := judgingOf(f)
	defer j.done()
	for _, v := range variables {
		if x, ok := j.scope.ResolveName(v.name); !ok || x == nil {
			t.Errorf("%s has no value", v.name)
		}
	}
	if _, ok := j.scope.ResolveName("agent"); ok {
		t.Error("a value of no variable")
	}
}
