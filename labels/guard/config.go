package guard

import (
	"errors"

	"github.com/pratique-dev/pratique/labels/guard/content"
)

// ErrConfig is every error of a Config or Constraint. Its text names the key, and
// repeats nothing else.
var ErrConfig = errors.New("guards")

// A Config is what a rule file says of guards, its "guards" member. The zero value
// has every default on.
type Config struct {
	Off     Words           `yaml:"off" json:"off,omitzero"` // defaults that are switched off: paths, refs, hosts, secrets
	Paths   *PathConfig     `yaml:"paths" json:"paths,omitzero"`
	Refs    *RefConfig      `yaml:"refs" json:"refs,omitzero"`
	Hosts   *HostConfig     `yaml:"hosts" json:"hosts,omitzero"`
	Content *content.Config `yaml:"content" json:"content,omitzero"` // nil: secrets are refused
}

// A PathConfig says which arguments are paths and where they may lie.
type PathConfig struct {
	Within  Words            `yaml:"within" json:"within,omitzero"`   // folders; none: hygiene alone
	Windows bool             `yaml:"windows" json:"windows,omitzero"` // paths are those of a Windows machine
	Fold    bool             `yaml:"fold" json:"fold,omitzero"`       // letters have no case in names of files
	Keys    map[string]Words `yaml:"keys" json:"keys,omitzero"`       // by tool: further names that are paths; "-name" takes one out, none takes all
}

// A RefConfig says which refs are protected, and which arguments are destinations.
type RefConfig struct {
	Protected Words            `yaml:"protected" json:"protected,omitzero"` // patterns; none: the default ones
	Folder    Word             `yaml:"folder" json:"folder,omitzero"`       // "never" (or empty) or "off": what lies in a repository's own folder
	Keys      map[string]Words `yaml:"keys" json:"keys,omitzero"`           // by tool: further names that are destinations; "-name" takes one out, none takes all
}

// A HostConfig says which hosts URLs may name.
type HostConfig struct {
	Allow   Words            `yaml:"allow" json:"allow,omitzero"`     // none: every public host
	Schemes Words            `yaml:"schemes" json:"schemes,omitzero"` // of URLs; none: http, https, ws, wss, ssh
	Private bool             `yaml:"private" json:"private,omitzero"` // hosts that are not public pass too
	Keys    map[string]Words `yaml:"keys" json:"keys,omitzero"`       // by tool: further names that are URLs or hosts; "-name" takes one out, none takes all
}

// A Constraint is what one argument has to be: every word that is given must hold. It
// speaks of every member of the name it stands under, at any depth, in arrays and in
// JSON inside of strings; under a JSON Pointer ("/options/path") of that one place.
// Where the argument is absent or null at the top level (or at the place) it does not
// hold, unless it is optional.
type Constraint struct {
	Optional   bool     `yaml:"optional" json:"optional,omitzero"`
	Equals     Literal  `yaml:"equals" json:"equals,omitzero"`
	OneOf      Literals `yaml:"one_of" json:"one_of,omitzero"`
	Within     Words    `yaml:"within" json:"within,omitzero"`     // path: in one of these folders
	File       Words    `yaml:"file" json:"file,omitzero"`         // path: exactly one of these files
	Refs       Words    `yaml:"refs" json:"refs,omitzero"`         // destination: one of these patterns and surely nothing else
	NotRefs    Words    `yaml:"not_refs" json:"not_refs,omitzero"` // destination: surely none of these patterns
	Hosts      Words    `yaml:"hosts" json:"hosts,omitzero"`       // URL or host: one of these
	Recipients Words    `yaml:"recipients" json:"recipients,omitzero"`
	Min        *Literal `yaml:"min" json:"min,omitzero"`         // number, this or more
	Max        *Literal `yaml:"max" json:"max,omitzero"`         // number, this or less
	Before     *Word    `yaml:"before" json:"before,omitzero"`   // RFC 3339 date or time, earlier than this
	After      *Word    `yaml:"after" json:"after,omitzero"`     // RFC 3339 date or time, later than this
	Longest    *int     `yaml:"longest" json:"longest,omitzero"` // text: bytes of UTF-8; array: elements
}
