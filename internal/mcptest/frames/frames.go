// Package frames is a corpus of MCP messages that are hard to carry unchanged:
// numbers beyond a 64-bit float, null beside absent, schemas with references,
// unknown members, escapes and letters that look alike, both protocol eras. All
// are messages that must pass; whatever carries them is held against the bytes.
package frames

import (
	"bytes"
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.jsonl *.json
var files embed.FS

// A Frame is one message of the corpus.
type Frame struct {
	From  string // "agent" or "upstream": who sends it
	Era   string // "legacy", "modern" or "both"
	Theme string // numbers, nulls, unicode, keys, invisible, schemas, unknown, meta, content, ids, methods, errors, spaces, pretty
	Bytes []byte // as it is sent; of the theme pretty over several lines
}

// All is the whole corpus, in a fixed order. The caller may change the bytes.
func All() []Frame {
	names, err := fs.Glob(files, "*.json*")
	if err != nil {
		panic(err) // the pattern is well-formed
	}
	var out []Frame
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		parts := strings.Split(name, ".")
		f := Frame{From: parts[0], Era: parts[1], Theme: parts[2]}
		if strings.HasSuffix(name, ".json") {
			f.Bytes = text
			out = append(out, f)
			continue
		}
		for line := range bytes.Lines(text) {
			f.Bytes = bytes.TrimSuffix(line, []byte("\n"))
			out = append(out, f)
		}
	}
	return out
}

// Select are those frames of the corpus that a sender may send in an era
// ("legacy" or "modern"), of the themes given or, with none, of all.
func Select(from, era string, themes ...string) []Frame {
	var out []Frame
	for _, f := range All() {
		if f.From != from || f.Era != era && f.Era != "both" {
			continue
		}
		for i := range themes {
			if themes[i] == f.Theme {
				out = append(out, f)
			}
		}
		if len(themes) == 0 {
			out = append(out, f)
		}
	}
	return out
}
