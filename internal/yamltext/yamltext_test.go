package yamltext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/internal/yamltext"
)

type doc struct {
	Name yamltext.Word   `yaml:"name"`
	List []yamltext.Word `yaml:"list"`
}

// TestDecode: what a person would not see in the text is refused, with its line and
// none of its words.
func TestDecode(t *testing.T) {
	for name, text := range map[string]string{
		"an anchor": "name: &a secret\nlist: [*a]", "a merge": "<<: {name: a}", "a tag": "name: !!str secret", "a directive": "%YAML 1.2\n---\nname: a",
		"two documents": "name: a\n---\nname: b", "a complex key": "? name\n: a", "an unknown key": "name: a\nsecret: b", "twice": "name: a\nname: b",
		"a number": "name: 42", "true": "list: [true]", "another type": "list: secret", "dashes": "list: " + strings.Repeat("- ", 100),
		"brackets": "name: " + strings.Repeat("[", 100), "no YAML": "name: [", "tabs": "\tname: a",
	} {
		var d doc
		err := yamltext.Decode([]byte(text), &d)
		if !errors.Is(err, yamltext.ErrText) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var d doc
	clean, err := yamltext.Clean([]byte("\xef\xbb\xbf# words\r\nname: \"42\"\r\nlist:\r\n- a\r\n- b\r\n"))
	if err == nil {
		err = yamltext.Decode(clean, &d)
	}
	if err != nil || d.Name != "42" || len(d.List) != 2 || d.List[1] != "b" {
		t.Errorf("%+v %v", d, err)
	}
	if _, err := yamltext.Clean([]byte("name: \xff")); !errors.Is(err, yamltext.ErrText) {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("name: a\nlist: [b, c]")
	f.Add("list:\n- a\n")
	f.Fuzz(func(t *testing.T, text string) {
		var d doc
		if err := yamltext.Decode([]byte(text), &d); err != nil && !errors.Is(err, yamltext.ErrText) {
			t.Fatal(err)
		}
	})
}
