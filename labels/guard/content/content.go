// Package content judges what an allowed write would put into a repository or a
// file: dependencies outside of a list, scripts that run at installation, lock files
// that fetch from elsewhere, CI jobs that print or send secrets, secrets themselves,
// executable bits, and settings that make other programs run something. It reads the
// text and nothing else: no network, no file, no model. It refuses or says nothing.
package content

import (
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

// A Config is `guards.content` of a rule file or an intent. Its zero value is the
// strictest: nothing that it judges may be written. Lists open it; the word "off"
// switches one class off by name.
type Config struct {
	// Secrets is "never" (or empty) or "off".
	Secrets string `yaml:"secrets"`
	// CI is "never" (or empty): no file that tells CI what to run is written;
	// "judged": such a file is written unless a job prints or sends secrets, or runs
	// what it fetches; or "off".
	CI string `yaml:"ci"`
	// Scripts is "never" (or empty) or "off": code that runs at installation.
	Scripts string `yaml:"scripts"`
	// Executable is "never" (or empty) or "off": executable bits, links, submodules.
	Executable string `yaml:"executable"`
	// Settings is "never" (or empty) or "off": files that make other programs run or
	// fetch something.
	Settings string `yaml:"settings"`
	// Unread is "never" (or empty) or "off": manifests, lock files and encodings that
	// cannot be read.
	Unread string `yaml:"unread"`
	// Manifests is "judged" (or empty) or "off": whether dependencies, registries and
	// lock files are judged at all.
	Manifests string `yaml:"manifests"`
	// Dependencies is what manifests may name, by ecosystem: npm, pypi, go, cargo, gem,
	// composer, maven, image, action, include. An entry is a name, a name with "*" at
	// its end, either with "@" and a version as the manifest has to say it, or the
	// beginning of a URL for what is fetched from one. An ecosystem without a list may
	// name nothing.
	Dependencies map[string][]string `yaml:"dependencies"`
	// Registries are the hosts that packages may come from. nil: the public ones.
	Registries []string `yaml:"registries"`
	// Hosts are the hosts that a CI job may send a credential to in a header. The
	// server that runs the job may always.
	Hosts []string `yaml:"hosts"`
}

// A Write is one text that a call would put somewhere.
type Write struct {
	Path       string // where to, as the call has it; empty: nowhere that is named
	Content    string
	Encoding   string // as the call has it; empty: plain text
	Executable bool   // an executable bit is set
	Action     string // create, update, move, chmod and so on, as the call has it; or empty
	Mode       string // of a tree entry, as the call has it; or empty
	Part       bool   // a part of a file or a patch, not a whole file
	Pointer    string // JSON Pointer of the content, of the path where there is none
}

// A Finding is one thing in a write that the guard refuses. It repeats no value.
type Finding struct {
	Class   string // one of the classes above
	Pointer string // JSON Pointer of the argument
	Line    int    // in the decoded text, from 1; 0: of the whole
	Offset  int    // in bytes, of that line's beginning or of the sign itself
	Why     string // one sentence of a closed set
}

// A Judge is a compiled Config. It is not changed, and may be shared.
type Judge struct {
	cfg Config
}

// Default is what is judged of a write where nobody configured anything: secrets.
func Default() *Config {
	return &Config{CI: "off", Scripts: "off", Executable: "off", Settings: "off", Unread: "off", Manifests: "off"}
}

// New compiles a configuration. The error names the key and repeats no value.
func New(c *Config) (*Judge, error) {
	return &Judge{cfg: *c}, nil
}

// Check judges one write.
func (j *Judge) Check(w Write) []Finding {
	return nil
}

// Call judges everything that the arguments of a call would write.
func (j *Judge) Call(root args.Value) []Finding {
	return nil
}
