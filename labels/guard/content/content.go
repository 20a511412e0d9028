// Package content judges what an allowed write would put into a repository or a
// file: dependencies outside of a list, scripts that run at installation, lock files
// that fetch from elsewhere, CI jobs that print or send secrets, secrets themselves,
// executable bits, and settings that make other programs run something. It reads the
// text and nothing else: no network, no file, no model. It refuses or says nothing.
package content

import (
	"errors"
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// Classes of findings, a closed set.
const (
	Dependency = "dependency" // a package, module or image outside of the list
	Registry   = "registry"   // a host that packages would be fetched from
	Script     = "script"     // code that runs at installation
	Lock       = "lock"       // a lock file without, or with another form of, integrity
	CI         = "ci"         // what CI is told to run
	Secret     = "secret"     // a credential in what is written
	Executable = "executable" // an executable bit, a link or a submodule
	Settings   = "settings"   // a file that makes other programs run or fetch something
	Unread     = "unread"     // a form that this guard cannot read as its readers would
)

// ErrConfig is every error of New. Its text names the key and repeats no value.
var ErrConfig = errors.New("content")

// A Config is `guards.content` of a rule file or an intent. Its zero value is the
// strictest: nothing that it judges may be written. Lists open it; the word "off"
// switches one class off by name.
type Config struct {
	// Secrets is "never" (or empty) or "off".
	Secrets string `yaml:"secrets" json:"secrets,omitzero"`
	// Manifests is "judged" (or empty) or "off": whether dependencies, registries and
	// lock files are held against the lists.
	Manifests string `yaml:"manifests" json:"manifests,omitzero"`
	// Scripts is "never" (or empty) or "off": code that runs at installation.
	Scripts string `yaml:"scripts" json:"scripts,omitzero"`
	// CI is "never" (or empty): no file that tells CI what to run is written;
	// "judged": such a file is written unless a job prints or sends secrets, runs what
	// it fetches, or takes parts from outside of the lists; or "off".
	CI string `yaml:"ci" json:"ci,omitzero"`
	// Executable is "never" (or empty) or "off": executable bits, links, submodules.
	Executable string `yaml:"executable" json:"executable,omitzero"`
	// Settings is "never" (or empty) or "off": files that make other programs run or
	// fetch something, or that agents take for instructions.
	Settings string `yaml:"settings" json:"settings,omitzero"`
	// Unread is "never" (or empty) or "off": manifests, lock files and encodings that
	// cannot be read.
	Unread string `yaml:"unread" json:"unread,omitzero"`
	// Dependencies is what manifests may name, by ecosystem: see Ecosystems. An entry
	// is a name, or the beginning of one with "*" at its end, either of them perhaps
	// with "@" and a version as the manifest has to say it; or the beginning of a URL,
	// for what is fetched from one. An ecosystem without a list may name nothing.
	Dependencies map[string][]string `yaml:"dependencies" json:"dependencies,omitzero"`
	// Registries are the hosts that packages may come from; the word "public" stands
	// for the usual ones, which are also what nil is.
	Registries []string `yaml:"registries" json:"registries,omitzero"`
	// Like are further files that are read as well-known ones: files, or folders with a
	// slash at their end, by the name of the well-known file.
	Like map[string][]string `yaml:"like" json:"like,omitzero"`
	// Hosts are the hosts that a CI job may send a credential to in a header. The
	// server that runs the job may always be one.
	Hosts []string `yaml:"hosts" json:"hosts,omitzero"`
}

// A Write is one text that a call would put somewhere.
type Write struct {
	Path       string // where to, as the call has it; empty: nowhere that is named
	Content    string
	Encoding   string // as the call has it; empty: plain text
	Executable bool   // an executable bit is set
	Action     string // create, update, move, chmod and so on, as the call has it; or empty
	Mode       string // of a tree entry, as the call has it; or empty
	Part       bool   // a part of a file, not all of it
	Patch      bool   // a patch: the lines that it adds are judged
	Loose      bool   // it is not sure that this is a file's content: see Writes
	Pointer    string // JSON Pointer of the content, of the path where there is none

	value args.Value // of the content, where Pointer is not said
	seen  bool       // it was not given as a patch, but has the shape of one
	named bool       // Content is the name of a member
	among bool       // Path is one of several words, of which Content is another
}

// A Finding is one thing in a write that the guard refuses. It repeats no value.
type Finding struct {
	Class   string // one of the classes above
	Pointer string // JSON Pointer of the argument
	Line    int    // in the decoded text, from 1; 0: of the whole
	Offset  int    // in bytes of the decoded text, where Line is not 0
	Why     string // one sentence of a closed set
}

// A Judge is a compiled Config. It is not changed, and may be shared.
type Judge struct {
	off     map[string]bool // classes; Dependency stands for manifests
	ciNever bool

	secretsOnly bool
	always      bool // files of variables may have any name: nothing is told at a glance
	like        []likeness
	lists       map[string]*list
	registries  map[string]bool
	hosts       map[string]bool
}

// Default is what is judged of a write where nobody configured anything: secrets.
func Default() *Config {
	return &Config{Manifests: "off", Scripts: "off", CI: "off", Executable: "off", Settings: "off", Unread: "off"}
}

// most is how many findings one call gives; more would say nothing more.
const most = 16

// Call judges everything that the arguments of a call would write, and every other
// text in them for secrets. The tree is of the decision and is read on the way.
func (j *Judge) Call(root args.Value) []Finding {
	if !j.always && !j.worth(root, other) {
		return nil
	}
	var out []Finding
	for _, w := range j.writes(root) {
		out = append(out, j.Check(w)...)
		if len(out) >= most {
			return out[:most]
		}
	}
	return out
}

// Check judges one write.
func (j *Judge) Check(w Write) []Finding {
	c := &check{j: j, w: w}
	c.write()
	if w.Pointer == "" && len(c.out) > 0 {
		w.Pointer = Pointer(w.value)
	}
	for i := range c.out {
		c.out[i].Pointer = w.Pointer
		if w.named { // which is not what stands at the pointer
			c.out[i].Line, c.out[i].Offset = 0, 0
		}
	}
	return c.out
}

// A check is one run over one text.
type check struct {
	j    *Judge
	w    Write
	kind kind
	name string // the folded path
	text string // decoded
	live []line // of a patch: the lines of text, where they come from and which are added
	here string // see lineOf

	source string // that text has other ends of lines of; empty: it is text
	marks  []mark // where they are of another length

	counted struct{ at, lines int } // see lineAt

	sh    *shellState    // nil: no command was seen
	files []secretOutput // that jobs write secrets to
	out   []Finding
}

// add records what was found between two offsets of the text; from < 0: in the whole.
// In a patch what touches no added line is not recorded.
func (c *check) add(class string, from, to int, why string) {
	if c.j.off[class] || len(c.out) >= most {
		return
	}
	if from == lookup {
		if from = strings.Index(c.text, c.here); from >= 0 {
			to = from + len(c.here)
		}
	}
	f := Finding{Class: class, Why: why}
	if from >= 0 {
		from, to = c.place(from), c.place(to)
		f.Line, f.Offset = c.lineAt(from), from
		if c.live != nil {
			at, ok := c.added(f.Line, to)
			if !ok {
				return
			}
			f.Line, f.Offset = at.number, at.offset
		}
	}
	for _, g := range c.out {
		if g == f || g.Line == f.Line && g.Why == f.Why && c.source == "" {
			return
		}
	}
	c.out = append(c.out, f)
}

// all records something of the whole text.
func (c *check) all(class, why string) { c.add(class, -1, -1, why) }

// full tells whether nothing more can be recorded.
func (c *check) full() bool { return len(c.out) >= most }
