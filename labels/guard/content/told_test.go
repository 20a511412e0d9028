package content_test

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard"
)

// TestTold: no guard repeats a credential that is the name of a member above what it
// refuses.
func TestTold(t *testing.T) {
	set, err := guard.Compile(&guard.Config{})
	if err != nil {
		t.Fatal(err)
	}
	token := "glpat-" + "Zx8kQ2mN5vB7cT4rW9yL"
	tree, err := args.Parse([]byte(`{"headers":{"` + token + `":{"path":"../../etc/passwd"}},"path":"../x"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Release()
	told := map[string]string{}
	for _, v := range set.Check(guard.Call{Tool: "write_file", Method: "tools/call", Args: tree}) {
		if strings.Contains(v.Path, token) {
			t.Errorf("%s repeats it: %s", v.Guard, v.Path)
		}
		told[v.Guard] += v.Path + " "
	}
	if told["content"] != "/headers " || told["path"] != "/headers /path " {
		t.Errorf("told: %v", told)
	}
}

// TestLine: of what is refused in a text the line is told, once each, and of a name none.
func TestLine(t *testing.T) {
	set, err := guard.Compile(&guard.Config{})
	if err != nil {
		t.Fatal(err)
	}
	token := "glpat-" + "Zx8kQ2mN5vB7cT4rW9yL"
	other := "glpat-" + "Qw7hN3bV6cX9zL2kJ5mT"
	text := "a\nb\n" + token + "\nc\n" + other + "\n"
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	for args1, want := range map[string]string{
		`{"path":"a.txt","content":"` + strings.ReplaceAll(text, "\n", `\n`) + `"}`: "/content 3",
		`{"path":"a.txt","encoding":"base64","content":"` + encoded + `"}`:          "/content 3",
		`{"options":"{\"path\":\"a.txt\",\"content\":\"a\\n` + token + `\"}"}`:      "/options 1, /options!/content 2",
		`{"headers":{"` + token + `":1}}`:                                           "/headers 0",
		`{"path":"../x","content":"plain"}`:                                         "/path 0",
	} {
		tree, err := args.Parse([]byte(args1))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range set.Check(guard.Call{Tool: "write_file", Method: "tools/call", Args: tree}) {
			got = append(got, v.Path+" "+strconv.Itoa(v.Line))
		}
		tree.Release()
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %s", args1, got, want)
		}
	}
}
