package effects

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/internal/yamltext"
	"github.com/pratique-dev/pratique/labels"
)

// ErrFile is every error of an effects file. Its text names the block and the line of a
// tool, and repeats nothing of the file.
var ErrFile = errors.New("effects file")

// Bounds of an effects file.
const (
	MaxFileBytes = 1 << 20
	MaxTools     = 20_000 // of all blocks together
	maxName      = 1024   // bytes
)

// A File is what the operator says of tools.
type File struct{ blocks []block }

// A block is what is said of one upstream.
type block struct {
	origin, upstream string // one of them
	packaged         string // the package that the upstream runs, for catalogues
	tools            map[string]said
}

type said struct {
	effect labels.Effect
	digest credentials.Digest // zero: of every version
}

func (b *block) is(x Tool) bool {
	return b.origin != "" && b.origin == x.Origin || b.upstream != "" && b.upstream == x.Upstream
}

// fileText is the format:
//
//	effects:
//	  - upstream: gitlab                     # the operator's name; or origin: https://mcp.example.org
//	    package: npm:@zereight/mcp-gitlab    # what it runs, for catalogues
//	    tools:
//	      get_issue: read
//	      create_issue: write+egress
//	      push_files: {effect: write+destructive, digest: …}
type fileText struct {
	Effects []blockText `yaml:"effects"`
}

type blockText struct {
	Origin   yamltext.Word       `yaml:"origin"`
	Upstream yamltext.Word       `yaml:"upstream"`
	Package  yamltext.Word       `yaml:"package"`
	Tools    map[string]saidText `yaml:"tools"`
}

type saidText struct {
	Effect yamltext.Word `yaml:"effect"`
	Digest yamltext.Word `yaml:"digest"`
}

// UnmarshalYAML takes an effect alone, or one with a digest.
func (s *saidText) UnmarshalYAML(decode func(any) error) error {
	if decode(&s.Effect) == nil && s.Effect != "" {
		return nil
	}
	type members saidText
	return decode((*members)(s))
}

// packageForm is the form of a package's name: an ecosystem, and the name there.
var packageForm = regexp.MustCompile(`^[a-z][a-z0-9.+-]{0,30}:[!-~]{1,200}$`)

// ParseFile reads an effects file.
func ParseFile(text []byte) (*File, error) {
	blocks, err := parseBlocks(text)
	if err != nil {
		return nil, err
	}
	for i := range blocks {
		b := &blocks[i]
		bad := func(what string) error { return fmt.Errorf("%w: block %d: %s", ErrFile, i+1, what) }
		if (b.origin == "") == (b.upstream == "") {
			return nil, bad("want either origin or upstream")
		}
		if b.packaged == "" && len(b.tools) == 0 {
			return nil, bad("says nothing")
		}
		for k := range i {
			o := &blocks[k]
			if o.origin != b.origin || o.upstream != b.upstream {
				continue
			}
			if b.packaged != "" && o.packaged != "" {
				return nil, bad("names a second package for one upstream")
			}
			for _, name := range slices.Sorted(maps.Keys(b.tools)) {
				if _, twice := o.tools[name]; twice {
					return nil, bad(lineOf(text, i, name) + "speaks of a tool that an earlier block speaks of")
				}
			}
		}
	}
	return &File{blocks}, nil
}

func parseBlocks(text []byte) ([]block, error) {
	if len(text) > MaxFileBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrFile, MaxFileBytes)
	}
	text, err := yamltext.Clean(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	var f fileText
	if err := yamltext.Decode(text, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if len(f.Effects) == 0 {
		return nil, fmt.Errorf("%w: no effects", ErrFile)
	}
	out := make([]block, 0, len(f.Effects))
	n := 0
	for i := range f.Effects {
		b, at, err := f.Effects[i].block()
		if err != nil {
			return nil, fmt.Errorf("%w: block %d: %s%w", ErrFile, i+1, lineOf(text, i, at), err)
		}
		if n += len(b.tools); n > MaxTools {
			return nil, fmt.Errorf("%w: more than %d tools", ErrFile, MaxTools)
		}
		out = append(out, b)
	}
	return out, nil
}

// lineOf is the line of what a block says of a tool, for errors; empty: no such tool.
// The name itself is not repeated.
func lineOf(text []byte, block int, tool string) string {
	text, err := yamltext.Clean(text)
	if err != nil {
		return ""
	}
	body, err := yamltext.Body(text)
	if err != nil {
		return ""
	}
	for _, top := range yamltext.Members(body) {
		list, ok := top.Value.(*ast.SequenceNode)
		if !ok || block >= len(list.Values) {
			continue
		}
		for _, m := range yamltext.Members(list.Values[block]) {
			if m.Key != "tools" {
				continue
			}
			for _, t := range yamltext.Members(m.Value) {
				if t.Key == tool {
					return fmt.Sprintf("line %d: ", t.Line)
				}
			}
		}
	}
	return ""
}

// block reads one block. With an error goes the name of the tool that it is about, if it
// is about one.
func (t *blockText) block() (b block, at string, err error) {
	b = block{origin: string(t.Origin), upstream: string(t.Upstream), packaged: string(t.Package), tools: make(map[string]said, len(t.Tools))}
	if b.origin != "" {
		o, err := origin.Parse(b.origin)
		if err != nil || o.String() != b.origin {
			return b, "", errors.New("origin is not in its text form")
		}
	}
	if len(b.upstream) > 64 {
		return b, "", errors.New("upstream is no name of one")
	}
	if b.packaged != "" && !packageForm.MatchString(b.packaged) {
		return b, "", errors.New("package is not an ecosystem and a name, such as npm:@scope/name")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Tools)) {
		s := t.Tools[name]
		if name == "" || len(name) > maxName {
			return b, name, errors.New("a tool's name is empty or too long")
		}
		e, err := labels.ParseEffect(string(s.Effect))
		if err != nil {
			return b, name, err
		}
		x := said{effect: e}
		if s.Digest != "" {
			if x.digest, err = credentials.ParseDigest(string(s.Digest)); err != nil || x.digest.IsZero() {
				return b, name, errors.New("digest is not that of an item")
			}
		}
		b.tools[name] = x
	}
	return b, "", nil
}

// A Line is one thing that a file or a catalogue says.
type Line struct {
	Origin   string             `json:"origin,omitzero"`
	Upstream string             `json:"upstream,omitzero"`
	Package  string             `json:"package,omitzero"`
	Tool     string             `json:"tool"`
	Digest   credentials.Digest `json:"digest,omitzero"`
	Effect   labels.Effect      `json:"effect"`
}

// Lines are all that the file says of tools, in the order of names within each block.
func (f *File) Lines() (out []Line) {
	for i := range f.blocks {
		b := &f.blocks[i]
		names := make([]string, 0, len(b.tools))
		for n := range b.tools {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			out = append(out, Line{b.origin, b.upstream, b.packaged, n, b.tools[n].digest, b.tools[n].effect})
		}
	}
	return out
}
