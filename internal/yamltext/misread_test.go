package yamltext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/internal/yamltext"
)

// TestCharacters: what ends, turns or hides a line for some programs only is refused,
// with its line.
func TestCharacters(t *testing.T) {
	for _, c := range []string{"\r", "\n\r\n\r", "\v", "\f", "\x00", "\x1c", "\x7f", "\u0085", "\u2028", "\u2029", "\ufeff", "\u202e", "\u2066", "\u200f", "\u061c"} {
		_, err := yamltext.Clean([]byte("name: a\r\n# only b" + c + "list: [c]\n"))
		line := "line " + string(rune('2'+strings.Count(c, "\n"))) + ":"
		if !errors.Is(err, yamltext.ErrText) || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: %v, want %s", c, err, line)
		}
	}
	for _, text := range []string{"", "\xef\xbb\xbfname: a\r\nlist: [ö, \U0001f469\u200d\U0001f33e]\r\n# \tx\n", "name: a\r\n"} {
		if _, err := yamltext.Clean([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPlaces: an error says line, key of ours and what is wrong, and no word of the file.
func TestPlaces(t *testing.T) {
	type inner struct {
		Of    map[string]yamltext.Word `yaml:"of"`
		Names []yamltext.Word          `yaml:"names"`
		On    bool                     `yaml:"on"`
	}
	for text, want := range map[string]string{
		"name: secret\nlist: [a]\nname: secret": "line 3: name: it is given twice, first in line 1",
		"list: [a]\n\"list\": [b]":              "line 2: list: it is given twice, first in line 1",
		"list: secret":                          "line 1: list: it has to be a list",
		"list: {secret: a}":                     "line 1: list: it has to be a list",
		"\nname: [secret]":                      "line 2: name: it has to be a text",
		"list:\n- 5":                            "line 2: list: it has to be a text",
		"name: a\nsecret: b":                    "line 2: unknown key; there are name, list, in",
		"secret":                                "line 1: it has to be keys with values",
		"in: secret":                            "line 1: in: it has to be keys with values",
		"in:\n  names: secret":                  "line 2: in.names: it has to be a list",
		"in:\n  names: [a]\n  names: [b]":       "line 3: in.names: it is given twice",
		"in:\n  of:\n    secret: a\n    other: b\n    secret: b": "line 5: in.of.name 3: it is given twice",
		"in: {on: [secret]}": "line 1: in.on: it has to be one value",
		"in: {secret: a}":    "line 1: in: unknown key; there are of, names, on",
	} {
		var d struct {
			Name yamltext.Word   `yaml:"name"`
			List []yamltext.Word `yaml:"list"`
			In   *inner          `yaml:"in"`
		}
		err := yamltext.Decode([]byte(text), &d)
		if !errors.Is(err, yamltext.ErrText) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
