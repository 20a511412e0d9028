package advise

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/yamltext"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
)

// ErrCases is every error of a file of cases. Its text names the case or line.
var ErrCases = errors.New("cases")

// Bounds of a file of cases.
const (
	maxCasesBytes = 1 << 20
	maxCases      = 10_000
)

// A File is cases, and where the rules are that they are of.
type File struct {
	Policy string // a rule file, by its path as it is written: relative to the file of cases; empty: none is named
	Cases  []Case
}

// A Case is one call, and what has to come out. What is not said of the call is
// ordinary: a cleared tool of a pinned server, whose effect nobody has named, for an
// agent of profile personal that has read of this server alone, with arguments that
// fit, nothing counted yet and nothing new, and with somebody to ask.
type Case struct {
	Name  string
	Facts policy.Facts
	Verb  string // allow, ask or deny
	Rule  string // empty: whichever
	Why   policy.Reason
	At    string // JSON Pointer that is among those of the guard; empty: whichever
}

// A Result is what came out of a case.
type Result struct {
	Case     Case
	Decision policy.Decision
	OK       bool
}

type caseFile struct {
	Policy yamltext.Word `yaml:"policy"`
	Cases  []fileCase    `yaml:"cases"`
}

type fileCase struct {
	Name     yamltext.Word   `yaml:"name"`
	Profile  yamltext.Word   `yaml:"profile"`
	Method   yamltext.Word   `yaml:"method"`
	Tool     yamltext.Word   `yaml:"tool"`
	Target   yamltext.Word   `yaml:"target"`
	Origin   yamltext.Word   `yaml:"origin"`
	Agent    yamltext.Word   `yaml:"agent"`
	Effect   yamltext.Word   `yaml:"effect"`
	Tier     yamltext.Word   `yaml:"tier"`
	Standing yamltext.Word   `yaml:"standing"`
	Content  yamltext.Word   `yaml:"content"`
	Context  yamltext.Word   `yaml:"context"`
	Way      yamltext.Word   `yaml:"way"`
	Fit      yamltext.Word   `yaml:"fit"`
	Time     yamltext.Word   `yaml:"time"` // RFC 3339
	Calls    *guard.Literal  `yaml:"calls"`
	New      []yamltext.Word `yaml:"new"`
	Alone    bool            `yaml:"alone"` // nobody could answer an ask
	Args     *guard.Literal  `yaml:"args"`
	Want     yamltext.Word   `yaml:"want"`
	Rule     yamltext.Word   `yaml:"rule"`
	Reason   yamltext.Word   `yaml:"reason"`
	At       yamltext.Word   `yaml:"at"`
}

// ReadCases reads a file of cases, strictly:
//
//	policy: rules.yaml
//	cases:
//	  - name: notes are written
//	    tool: write_file
//	    args: {path: docs/a.md}
//	    want: allow
//	  - name: nothing else is
//	    tool: write_file
//	    args: {path: src/a.go}
//	    want: deny
//	    at: /path
func ReadCases(text []byte) (*File, error) {
	if len(text) > maxCasesBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrCases, maxCasesBytes)
	}
	text, err := yamltext.Clean(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCases, err)
	}
	var f caseFile
	if err := yamltext.Decode(text, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCases, err)
	}
	if len(f.Cases) == 0 || len(f.Cases) > maxCases {
		return nil, fmt.Errorf("%w: none, or more than %d", ErrCases, maxCases)
	}
	out := &File{Policy: string(f.Policy), Cases: make([]Case, len(f.Cases))}
	for i, c := range f.Cases {
		if out.Cases[i], err = c.read(); err != nil {
			return nil, fmt.Errorf("%w: case %d: %w", ErrCases, i+1, err)
		}
	}
	return out, nil
}

var errCase = errors.New("it has a name, a tool, and want: allow, ask or deny; methods, reasons and the other words are those of docs/policy.md")

func or[T ~string](w yamltext.Word, otherwise T) T {
	if w == "" {
		return otherwise
	}
	return T(w)
}

func (c *fileCase) read() (Case, error) {
	out := Case{Name: string(c.Name), Verb: string(c.Want), Rule: string(c.Rule), Why: policy.Reason(c.Reason), At: string(c.At)}
	if c.Name == "" || c.Tool == "" || c.Want != "allow" && c.Want != "ask" && c.Want != "deny" || c.Reason != "" && !out.Why.Known() {
		return Case{}, errCase
	}
	f := policy.Facts{
		Tool: string(c.Tool), Target: string(c.Target), Method: or(c.Method, "tools/call"), Origin: or(c.Origin, "stdio:case"), Way: or(c.Way, "stdio"), Profile: or(c.Profile, policy.Personal),
		AgentName: or(c.Agent, "case"), Agent: or(c.Agent, credentials.AgentID("case")), Run: "case", Ver: 1, Gate: policy.Cleared, Channel: !c.Alone,
		Counts: policy.Counts{Known: true},
	}
	var errs [8]error
	f.Effect, errs[0] = labels.ParseEffect(or(c.Effect, "unclassified"))
	f.Standing, errs[1] = labels.ParseStanding(or(c.Standing, "pinned"))
	f.Content, errs[2] = labels.ParseContent(or(c.Content, "inspected"))
	f.Tier, errs[3] = labels.ParseTier(or(c.Tier, labels.Synthesize(f.Standing, f.Content).String()))
	f.Context, errs[4] = policy.ParseContext(or(c.Context, "own"))
	f.Fit, errs[5] = policy.ParseFit(or(c.Fit, "fits"))
	f.At, errs[6] = time.Parse(time.RFC3339, or(c.Time, "2026-01-01T12:00:00Z"))
	_, errs[7] = policy.ParseProfile(string(f.Profile))
	if err := errors.Join(errs[:]...); err != nil {
		return Case{}, errCase
	}
	for _, w := range c.New {
		f.Counts.New = append(f.Counts.New, string(w))
	}
	if c.Calls != nil {
		n, err := strconv.ParseUint(string(c.Calls.Raw()), 10, 63)
		if err != nil {
			return Case{}, errCase
		}
		f.Counts.Run, f.Counts.Minute, f.Counts.Hour, f.Counts.Day = n, n, n, n
	}
	if c.Args != nil {
		f.Args = c.Args.Raw()
	}
	out.Facts = f
	return out, nil
}

// Test decides the cases.
func Test(p policy.Policy, cases []Case) []Result {
	list := make([]Result, len(cases))
	for i, c := range cases {
		d := p.Decide(c.Facts)
		list[i] = Result{c, d, d.Verb().String() == c.Verb && (c.Rule == "" || c.Rule == d.Rule()) && (c.Why == "" || c.Why == d.Reason()) &&
			(c.At == "" || slices.Contains(d.Paths(), c.At))}
	}
	return list
}
