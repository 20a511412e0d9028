package baseline

import "testing"

// A letter that looks like a Latin one is seen where it stands among these, and only
// there.
func TestVisibleLookalikes(t *testing.T) {
	for in, want := range map[string]string{
		"ign\u043ere it":        `ign\u{43e}re it`,
		"\u0440\u0430ypal":      `\u{440}\u{430}ypal`,
		"s\u200b\u043end":       `s\u{200b}\u{43e}nd`,
		"мир, \u03c0 and Ωmega": `мир, π and \u{3a9}mega`,
		"社内ハンドブックをGo":           "社内ハンドブックをGo",
		"café\u0301":            "café\u0301",
		"":                      "",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
