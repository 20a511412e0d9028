// Package cases reads what a policy is expected to decide, written as data beside its
// rules, and holds the policy against it.
package cases

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/yamltext"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// ErrCases is every error of a file of cases. Its text names the line or the case, and
// repeats nothing else.
var ErrCases = errors.New("file of cases")

// Bounds of a file.
const (
	MaxBytes = 4 << 20
	MaxCases = 10_000
)

// A File is cases, and where the rules are that they are of.
type File struct {
	Policy string // the rule file, as it is written: relative to this one; empty: none is named
	Cases  []Case
}

// A Case is one call and what has to become of it.
type Case struct {
	Name  string
	Facts policy.Facts
	Want  Want
}

// Want is what has to come out. What is empty may be anything.
type Want struct {
	Verb   policy.Verb
	Reason policy.Reason
	Rule   string
	Path   string // JSON Pointer that is among those of the guard
}

// fileForm is the format:
//
//	policy: rules.yaml
//	cases:
//	  - name: a commit to main
//	    tool: create_commit
//	    args: '{"branch": "main"}'   # JSON, as the agent would send it
//	    want: deny                   # allow, ask or deny
//	    reason: guard                # may be left out, as may rule and path
type fileForm struct {
	Policy yamltext.Word `yaml:"policy"`
	Cases  []caseForm    `yaml:"cases"`
}

type caseForm struct {
	Name     yamltext.Word   `yaml:"name"`
	Tool     yamltext.Word   `yaml:"tool"`
	Method   yamltext.Word   `yaml:"method"`
	Args     yamltext.Word   `yaml:"args"`
	Effect   yamltext.Word   `yaml:"effect"`
	Origin   yamltext.Word   `yaml:"origin"`
	Agent    yamltext.Word   `yaml:"agent"`
	Profile  yamltext.Word   `yaml:"profile"`
	Standing yamltext.Word   `yaml:"standing"`
	Content  yamltext.Word   `yaml:"content"`
	Gate     yamltext.Word   `yaml:"gate"`
	Fit      yamltext.Word   `yaml:"fit"`
	Context  yamltext.Word   `yaml:"context"`
	Way      yamltext.Word   `yaml:"way"`
	At       yamltext.Word   `yaml:"at"`
	Run      uint64          `yaml:"run"`
	Minute   uint64          `yaml:"minute"`
	Hour     uint64          `yaml:"hour"`
	Day      uint64          `yaml:"day"`
	New      []yamltext.Word `yaml:"new"`
	Nobody   bool            `yaml:"nobody"`
	Want     yamltext.Word   `yaml:"want"`
	Reason   yamltext.Word   `yaml:"reason"`
	Rule     yamltext.Word   `yaml:"rule"`
	Path     yamltext.Word   `yaml:"path"`
}

// Load reads a file, strictly.
func Load(text []byte) (*File, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrCases, MaxBytes)
	}
	clean, err := yamltext.Clean(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCases, err)
	}
	var f fileForm
	if err := yamltext.Decode(clean, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCases, err)
	}
	if len(f.Cases) == 0 || len(f.Cases) > MaxCases {
		return nil, fmt.Errorf("%w: it has no cases, or more than %d", ErrCases, MaxCases)
	}
	out := &File{Policy: string(f.Policy)}
	seen := map[yamltext.Word]bool{}
	for i := range f.Cases {
		c := &f.Cases[i]
		if c.Name == "" || seen[c.Name] {
			return nil, fmt.Errorf("%w: case %d: it has no name, or the name is taken", ErrCases, i+1)
		}
		seen[c.Name] = true
		read, err := c.read()
		if err != nil {
			return nil, fmt.Errorf("%w: case %d: %w", ErrCases, i+1, err)
		}
		out.Cases = append(out.Cases, read)
	}
	return out, nil
}

func or(w yamltext.Word, def string) string {
	if w == "" {
		return def
	}
	return string(w)
}

// parsed reads a member that has one of a few values.
func parsed[T any](name string, w yamltext.Word, def string, parse func(string) (T, error)) (T, error) {
	v, err := parse(or(w, def))
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}

// read fills in what is ordinary: a cleared tool of a pinned origin, an agent of
// profile personal, arguments that fit, a channel that could answer, noon.
func (c *caseForm) read() (Case, error) {
	if c.Tool == "" {
		return Case{}, errors.New("tool is required")
	}
	args := []byte(or(c.Args, "{}"))
	if v := jsontext.Value(args); v.Kind() != '{' || !v.IsValid() {
		return Case{}, errors.New("args is not the text of a JSON object")
	}
	f := policy.Facts{Method: or(c.Method, "tools/call"), Tool: string(c.Tool), Origin: or(c.Origin, "stdio:server"), Args: args, Channel: !c.Nobody,
		AgentName: or(c.Agent, "agent"), Run: "run_1", Ver: 1, Way: or(c.Way, "stdio"),
		Counts: policy.Counts{Known: true, Run: c.Run, Minute: c.Minute, Hour: c.Hour, Day: c.Day}}
	for _, n := range c.New {
		f.Counts.New = append(f.Counts.New, string(n))
	}
	err := c.states(&f)
	if err != nil {
		return Case{}, err
	}
	w := Want{Reason: policy.Reason(c.Reason), Rule: string(c.Rule), Path: string(c.Path)}
	if w.Verb, err = parsed("want", c.Want, "", parseVerb); err != nil {
		return Case{}, err
	}
	if w.Reason != "" && !w.Reason.Known() {
		return Case{}, errors.New("reason is none that there is")
	}
	return Case{Name: string(c.Name), Facts: f, Want: w}, nil
}

// states reads what has one of a few values.
func (c *caseForm) states(f *policy.Facts) (err error) {
	var errs [8]error
	f.Profile, errs[0] = parsed("profile", c.Profile, string(policy.Personal), policy.ParseProfile)
	f.Standing, errs[1] = parsed("standing", c.Standing, labels.Pinned.String(), labels.ParseStanding)
	f.Content, errs[2] = parsed("content", c.Content, labels.Inspected.String(), labels.ParseContent)
	f.Gate, errs[3] = parsed("gate", c.Gate, policy.Cleared.String(), policy.ParseState)
	f.Context, errs[4] = parsed("context", c.Context, policy.Own.String(), policy.ParseContext)
	f.Fit, errs[5] = parsed("fit", c.Fit, policy.Fits.String(), policy.ParseFit)
	f.Effect, errs[6] = parsed("effect", c.Effect, labels.Unclassified.String(), labels.ParseEffect)
	f.At, errs[7] = parsed("at", c.At, "2026-01-05T12:00:00Z", func(s string) (time.Time, error) { return time.Parse(time.RFC3339, s) })
	if errs[7] != nil {
		errs[7] = errors.New("at is not a time such as 2026-01-05T12:00:00Z")
	}
	f.Tier = labels.Synthesize(f.Standing, f.Content)
	return errors.Join(errs[:]...)
}

var errVerb = errors.New("want is one of allow, ask, deny")

func parseVerb(s string) (policy.Verb, error) {
	for _, v := range []policy.Verb{policy.Deny, policy.Ask, policy.Allow} {
		if v.String() == s {
			return v, nil
		}
	}
	return policy.Deny, errVerb
}

// Holds tells whether a decision is what the case wants.
func (c *Case) Holds(d policy.Decision) bool {
	d = d.Would()
	found := c.Want.Path == ""
	for _, p := range d.Paths() {
		found = found || p == c.Want.Path
	}
	return d.Verb() == c.Want.Verb && found && (c.Want.Reason == "" || d.Reason() == c.Want.Reason) && (c.Want.Rule == "" || d.Rule() == c.Want.Rule)
}
