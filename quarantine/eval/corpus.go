// Package eval measures the inspector on a corpus: a folder of labelled texts
// that stays outside of the project. Figures are by source: whatever is measured
// on a source was trained on the others, and its thresholds were set on the
// others, since a detector that has seen a source knows its wrapping.
package eval

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Errors of a folder that is no corpus. They name file and line, and repeat none
// of the text.
var (
	ErrFolder = errors.New("eval: no corpus in this folder")
	ErrItem   = errors.New("eval: not an item of a corpus")
	ErrSize   = errors.New("eval: corpus is too large")
)

// Bounds of a corpus.
const (
	MaxLine  = 1 << 20 // bytes of one item
	MaxItems = 1 << 18
	MaxBytes = 1 << 28 // of all items
)

// A Corpus is the items of a folder, in the order of file names and lines.
type Corpus struct {
	Items  []*Item
	Digest string // SHA-256 over the names and contents of the files
}

// Read reads every file of a folder whose name ends in .jsonl: one JSON object a
// line, as Item says. Other files are not read, and no link out of the folder is
// followed.
func Read(dir string) (*Corpus, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFolder, err)
	}
	defer root.Close()
	names, err := files(root)
	if err != nil {
		return nil, err
	}
	r := reader{seen: map[string]bool{}}
	sum := sha256.New()
	for _, name := range names {
		f, err := root.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrFolder, err)
		}
		fmt.Fprintf(sum, "%d %s\n", len(name), name)
		err = r.read(name, io.TeeReader(f, sum))
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	if len(r.items) == 0 {
		return nil, fmt.Errorf("%w: no items", ErrFolder)
	}
	return &Corpus{Items: r.items, Digest: hex.EncodeToString(sum.Sum(nil))}, nil
}

func files(root *os.Root) ([]string, error) {
	d, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFolder, err)
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFolder, err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: no file ends in .jsonl", ErrFolder)
	}
	slices.Sort(names)
	return names, nil
}

type reader struct {
	items []*Item
	seen  map[string]bool
	bytes int
}

// read reads one file.
func (r *reader) read(name string, f io.Reader) error {
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 0, 1<<16), MaxLine)
	line := 0
	for s.Scan() {
		line++
		if len(s.Bytes()) == 0 {
			continue
		}
		if r.bytes += len(s.Bytes()); r.bytes > MaxBytes || len(r.items) >= MaxItems {
			return fmt.Errorf("%w: %s: line %d", ErrSize, name, line)
		}
		it, err := ParseItem(s.Bytes())
		if err != nil {
			return fmt.Errorf("%w: %s: line %d", err, name, line)
		}
		if r.seen[it.ID] {
			return fmt.Errorf("%w: %s: line %d: its id was there before", ErrItem, name, line)
		}
		r.seen[it.ID] = true
		r.items = append(r.items, it)
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%w: %s: line %d", ErrSize, name, line+1)
	} else if err != nil {
		return fmt.Errorf("%w: %s: %v", ErrFolder, name, err)
	}
	return nil
}

// ParseItem reads one line. Members that it does not know are left alone: they
// say where a text comes from, not what it is.
func ParseItem(line []byte) (*Item, error) {
	it := &Item{}
	if err := json.Unmarshal(line, it); err != nil {
		if s, ok := errors.AsType[*json.SemanticError](err); ok {
			return nil, fmt.Errorf("%w: %s is of another type", ErrItem, s.JSONPointer)
		}
		return nil, fmt.Errorf("%w: not one JSON object", ErrItem)
	}
	switch {
	case it.ID == "" || it.Source == "" || it.Text == "":
		return nil, fmt.Errorf("%w: id, source or text is missing", ErrItem)
	case !slices.Contains(kinds, it.Kind):
		return nil, fmt.Errorf("%w: kind is not one of %s", ErrItem, strings.Join(kinds, ", "))
	case it.Label != "attack" && it.Label != "benign":
		return nil, fmt.Errorf("%w: label is neither attack nor benign", ErrItem)
	case len(it.Tool) > 0 && it.Tool.Kind() != '{':
		return nil, fmt.Errorf("%w: tool is no object", ErrItem)
	}
	if _, err := it.Specimens(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrItem, err)
	}
	return it, nil
}

var kinds = []string{"tool_description", "tool_schema", "tool_name", "tool_return"}

// An Item is one labelled text.
type Item struct {
	ID      string         `json:"id"`
	Source  string         `json:"source"`
	Licence string         `json:"licence"`
	Kind    string         `json:"kind"` // tool_description, tool_schema, tool_name, tool_return
	Label   string         `json:"label"`
	Class   string         `json:"class"`
	Text    string         `json:"text"`
	Tool    jsontext.Value `json:"tool"` // the whole tool, where there is one

	Payload     string `json:"payload"`        // the attack inside of an honest text, where it is known
	Derived     bool   `json:"derived"`        // made from another item by a program
	DerivedFrom string `json:"derived_from"`   // the source of that one
	Direct      bool   `json:"direct"`         // a user's turn, no content of a tool
	Lang        string `json:"lang"`           // BCP 47; empty: guessed
	Separable   *bool  `json:"text_separable"` // false: the text cannot give it away
}
