package declared_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/effects/declared"
)

// corpusTools are the tools of a corpus file.
func corpusTools(t testing.TB, file string) (out []jsontext.Value) {
	dir := os.Getenv("PRATIQUE_CORPUS")
	if dir == "" {
		t.Skip("PRATIQUE_CORPUS names no corpus")
	}
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var it struct {
			Tool jsontext.Value `json:"tool"`
		}
		if err := json.Unmarshal(bytes.Clone(s.Bytes()), &it); err != nil {
			t.Fatal(err)
		}
		if it.Tool.Kind() == '{' {
			out = append(out, it.Tool)
		}
	}
	return out
}

// A list is what one server exposes.
type list struct {
	file         string
	Server       jsontext.Value   `json:"server"`
	Instructions string           `json:"instructions"`
	Tools        []jsontext.Value `json:"tools"`
}

// toolLists are the lists that real servers gave.
func toolLists(t testing.TB) (out []list) {
	dir := os.Getenv("PRATIQUE_TOOLLISTS")
	if dir == "" {
		t.Skip("PRATIQUE_TOOLLISTS names no folder of tool lists")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		l := list{file: filepath.Base(f)}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// alarms counts what is found in honest tools.
func alarms(t *testing.T, where string, tools []jsontext.Value, o *declared.Origin) (n int) {
	for _, raw := range tools {
		tool, err := declared.Read(raw)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		found := declared.Judge(tool, o)
		for _, f := range found {
			t.Errorf("%s: %s: %s %s: %s", where, tool.Name, f.Kind, f.Path, f.Why)
		}
		if len(found) > 0 {
			n++
		}
	}
	return n
}

// Nothing is found in real tools, whether their server says anything or not.
func TestHonestTools(t *testing.T) {
	tools := corpusTools(t, "benign-tools.jsonl")
	for _, o := range []declared.Origin{{}, {Known: true}} {
		n := alarms(t, "corpus", tools, &o)
		t.Logf("known %v: %d of %d honest tools", o.Known, n, len(tools))
	}
}

func TestHonestServers(t *testing.T) {
	for _, l := range toolLists(t) {
		var info struct{ Name, Title string }
		if len(l.Server) > 0 && l.Server.Kind() == '{' {
			if err := json.Unmarshal(l.Server, &info); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []declared.Origin{{}, {Known: true}, {Known: true, Name: info.Name, Title: info.Title, Instructions: l.Instructions}} {
			alarms(t, l.file, l.Tools, &o)
		}
		t.Logf("%s: %d tools", l.file, len(l.Tools))
	}
}
