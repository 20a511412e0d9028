package intent

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/yamltext"
	"github.com/pratique-dev/pratique/labels/policy"
)

// planFile is the part of the file that is not rules:
//
//	task: Raise left-pad to 1.3.1 in acme/shop and open a merge request
//	agent: dependency-bot    # name or id; may be said when it is sealed
//	launch: gitlab           # in its place: the name that guard has for the server
//	upstream: gitlab         # where there are several: name or origin
//	expires: 2h              # from the sealing, or a moment: 2026-12-01T18:00:00Z
//	tools: [get_file_contents, create_branch]
//	prompts: […]
//	resources: […]           # by URI
//	templates: […]           # by URI template
//	rules: …                 # as in a rule file
//	guards: …
type planFile struct {
	Task      yamltext.Word   `yaml:"task"`
	Agent     yamltext.Word   `yaml:"agent"`
	Launch    yamltext.Word   `yaml:"launch"`
	Upstream  yamltext.Word   `yaml:"upstream"`
	Expires   yamltext.Word   `yaml:"expires"`
	Tools     []yamltext.Word `yaml:"tools"`
	Prompts   []yamltext.Word `yaml:"prompts"`
	Resources []yamltext.Word `yaml:"resources"`
	Templates []yamltext.Word `yaml:"templates"`
}

// ruleKeys are the keys that belong to the rule file in it.
var ruleKeys = []string{"rules", "guards", "default"}

// A Name is an item as a plan names it. It is comparable.
type Name struct {
	Kind Kind
	Name string
}

// A Plan is an intent as a person wrote it. Parse makes it.
type Plan struct {
	Task     string
	Agent    string        // name or id; empty: not said
	Launch   string        // the operator's name of a server behind guard; empty: not said
	Upstream string        // name or origin; empty: not said
	Life     time.Duration // from the sealing; zero: Until counts
	Until    time.Time
	Names    []Name // sorted as items are
	rules    jsontext.Value
}

// Parse reads the file of an intent, strictly: its own keys, and the rules as
// policy.Load reads them. A tool that no allow and no ask names is allowed by a rule
// of the name "named", so that a list of tools is an intent. Rules speak of what the
// file names and of nothing else: ErrUnnamed otherwise. ErrFile.
func Parse(text []byte) (*Plan, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrFile, MaxFile)
	}
	text, err := yamltext.Clean(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	own, rules, err := split(text)
	if err != nil {
		return nil, err
	}
	for _, part := range [][]byte{own, rules} {
		if err := margins(part); err != nil {
			return nil, err
		}
	}
	var f planFile
	if err := yamltext.Decode(own, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	p := &Plan{Task: strings.TrimSpace(string(f.Task)), Agent: string(f.Agent), Launch: string(f.Launch), Upstream: string(f.Upstream)}
	if what := badTask(p.Task); what != "" {
		return nil, fmt.Errorf("%w: task: %s", ErrFile, what)
	}
	if p.Agent != "" && p.Launch != "" {
		return nil, fmt.Errorf("%w: agent and launch exclude each other", ErrFile)
	}
	if err := p.readExpires(string(f.Expires)); err != nil {
		return nil, err
	}
	if err := p.readNames(&f); err != nil {
		return nil, err
	}
	p.rules, err = p.readRules(rules)
	return p, err
}

// split tells the lines of our own keys from those of the rule file's, each with
// the other's left empty, so that lines keep their numbers. Every line that begins at
// the margin is a key, a comment or an element of the list before it.
func split(text []byte) (own, rules []byte, err error) {
	inRules, began := false, false
	for n, line := range bytes.SplitAfter(text, []byte{'\n'}) {
		bare := bytes.TrimRight(line, " \n")
		switch {
		case len(bare) == 0 || bare[0] == '#' || bare[0] == ' ' || bare[0] == '-' && began && (len(bare) == 1 || bare[1] == ' '):
		case string(bare) == "---" && !began:
			line = []byte{'\n'}
		default:
			key, _, ok := strings.Cut(string(bare), ":")
			if !ok || strings.IndexFunc(key, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
				return nil, nil, fmt.Errorf("%w: line %d: keys stand at the margin, one on each line, and everything else is indented", ErrFile, n+1)
			}
			inRules, began = slices.Contains(ruleKeys, key), true
		}
		if inRules {
			rules, own = append(rules, line...), append(own, '\n')
		} else {
			own, rules = append(own, line...), append(rules, '\n')
		}
	}
	return own, rules, nil
}

// readExpires reads a span or a moment. There is no intent without an end.
func (p *Plan) readExpires(s string) error {
	if s == "" {
		return fmt.Errorf("%w: expires is missing: a span such as 2h, or a moment such as 2026-12-01T18:00:00Z", ErrFile)
	}
	if d, err := time.ParseDuration(s); err == nil {
		if p.Life = d.Truncate(time.Second); d < MinLife || d > MaxLife {
			return fmt.Errorf("%w: expires: from 1s to 744h", ErrFile)
		}
		return nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("%w: expires: neither a span such as 2h nor a moment such as 2026-12-01T18:00:00Z", ErrFile)
	}
	p.Until = at.UTC()
	return nil
}

// readNames reads what it names.
func (p *Plan) readNames(f *planFile) error {
	for _, x := range []struct {
		kind  Kind
		words []yamltext.Word
	}{{Tool, f.Tools}, {Prompt, f.Prompts}, {Resource, f.Resources}, {Template, f.Templates}} {
		for _, w := range x.words {
			n := Name{x.kind, string(w)}
			switch {
			case n.Name == "" || strings.TrimSpace(n.Name) != n.Name || strings.IndexFunc(n.Name, hidden) >= 0 || strings.Contains(n.Name, "\n"):
				return fmt.Errorf("%w: %ss: a name is empty, has blanks at an end or characters that do not show", ErrFile, x.kind)
			case n.Name == policy.Any:
				return fmt.Errorf("%w: %ss: an intent names each item; there is no * for all of them", ErrFile, x.kind)
			case slices.Contains(p.Names, n):
				return fmt.Errorf("%w: %ss: a name is given twice", ErrFile, x.kind)
			}
			p.Names = append(p.Names, n)
		}
	}
	switch {
	case len(p.Names) == 0:
		return fmt.Errorf("%w: it names no tool, prompt or resource", ErrFile)
	case len(p.Names) > MaxItems:
		return fmt.Errorf("%w: it names more than %d items", ErrFile, MaxItems)
	}
	return nil
}

// Before has a span end no later than a moment: where it takes the place of an intent
// that ends then.
func (p *Plan) Before(at, now time.Time) {
	if p.Life > 0 && at.After(now) && now.Add(p.Life).After(at) {
		p.Life, p.Until = 0, at
	}
}

// Expiry is when an intent that is sealed at now ends. ErrFile: the moment is past,
// or more than MaxLife away.
func (p *Plan) Expiry(now time.Time) (time.Time, error) {
	at := p.Until
	if p.Life > 0 {
		at = now.Add(p.Life)
	}
	if at = at.Truncate(time.Second).UTC(); !at.After(now) || at.Sub(now) > MaxLife {
		return time.Time{}, fmt.Errorf("%w: expires: it lies in the past, or more than 744h ahead", ErrFile)
	}
	return at, nil
}

// Seal makes the intent for an agent, with the versions of what the plan names: each
// of its names once, and nothing else. ErrMissing names what is not among them.
func (p *Plan) Seal(agent credentials.AgentID, launch bool, items []Item, now time.Time) (*Intent, error) {
	at, err := p.Expiry(now)
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b Item) int { return a.compare(&b) })
	var errs []error
	for _, n := range p.Names {
		if !slices.ContainsFunc(items, func(i Item) bool { return i.Kind == n.Kind && i.Name == n.Name }) {
			errs = append(errs, fmt.Errorf("%w: %s %s", ErrMissing, n.Kind, n.Name))
		}
	}
	if len(items) != len(p.Names) && len(errs) == 0 {
		errs = append(errs, ErrMissing)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return build(form{V: 1, Task: p.Task, Agent: agent, Launch: launch, Items: items, Rules: p.rules, Expires: at.Unix()})
}
