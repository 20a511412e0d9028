package intent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNothing says that no tool fits a task.
var ErrNothing = errors.New("intent: the words of the task fit no tool that is cleared; name the tools by hand")

// MaxDraft is how many tools a draft names at most: a person has to read them.
const MaxDraft = 12

// A Draft is a proposal for a person to read, cut down and seal.
type Draft struct {
	Tools []string // that it names, sorted
	Text  string   // the file, which Parse takes
}

// A proposal is one tool with its reason.
type proposal struct {
	*Offer
	why  want
	args []limit
}

// A limit is what an argument is held to, and why.
type limit struct {
	name, text, why string
}

// DraftOf proposes an intent from the words of a task and the tools of an upstream.
// own is a name of the upstream, which may stand in names of its tools. It is a pure
// function: no model is asked, and the same task and tools give the same text.
func DraftOf(task, own string, catalogue []Offer) (*Draft, error) {
	task = strings.TrimSpace(task)
	if what := badTask(task); what != "" {
		return nil, fmt.Errorf("%w: task: %s", ErrFile, what)
	}
	r := readTask(task)
	picked, left := pick(r, strings.ToLower(own), catalogue)
	more := max(0, len(picked)-MaxDraft)
	picked = picked[:len(picked)-more]
	if len(picked) == 0 && len(left) > 0 {
		return nil, fmt.Errorf("%w; nothing in it bounds %s", ErrNothing, strings.Join(left, ", "))
	}
	if len(picked) == 0 {
		return nil, ErrNothing
	}
	slices.SortFunc(picked, func(a, b proposal) int { return strings.Compare(a.Name, b.Name) })
	d := &Draft{Text: write(task, r, picked, left, more)}
	for _, p := range picked {
		d.Tools = append(d.Tools, p.Name)
	}
	if _, err := Parse([]byte(d.Text)); err != nil {
		return nil, err
	}
	return d, nil
}

// pick chooses the tools that a task wants, those first that it speaks of first, and
// names the ones that are left out because nothing in the task bounds them, at most
// MaxDraft, quoted.
func pick(r *reading, own string, catalogue []Offer) (picked []proposal, left []string) {
	for i := range catalogue {
		o := &catalogue[i]
		if w := o.fits(r, own); o.Name != "" && w.deed != "" {
			picked = append(picked, proposal{o, w, o.limits(r, w)})
		}
	}
	if len(r.projects) > 0 && slices.ContainsFunc(picked, func(p proposal) bool { return p.has(projectArgs) }) {
		picked = slices.DeleteFunc(picked, func(p proposal) bool { return !p.has(projectArgs) && p.reads() }) // they would reach every project
	}
	slices.SortFunc(picked, func(a, b proposal) int {
		if n := slices.Index(r.wants, a.why) - slices.Index(r.wants, b.why); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	picked = slices.DeleteFunc(picked, func(p proposal) bool {
		out := !p.reads() && !p.bound()
		if out {
			left = append(left, strconv.QuoteToASCII(p.Name))
		}
		return out
	})
	return picked, left[:min(len(left), MaxDraft)]
}

func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""`
	}
	return string(b)
}

func list(words []string) string {
	var q []string
	for _, w := range words {
		q = append(q, quote(w))
	}
	return "[" + strings.Join(q, ", ") + "]"
}

// write spells the draft. Comments hold words of ours alone.
func write(task string, r *reading, picked []proposal, left []string, more int) string {
	var b strings.Builder
	b.WriteString("# A draft, made from the words of the task and the tools that are cleared. Nothing\n# is sealed by it: read it, take away what the task does not need, then seal it.\n")
	life, why := "2h", "the task changes something"
	if !slices.ContainsFunc(r.wants, func(w want) bool { return w.deed != look }) {
		life, why = "1h", "the task only reads"
	}
	fmt.Fprintf(&b, "task: %s\nexpires: %s # from the sealing; %s\ntools:\n", quote(task), life, why)
	for _, p := range picked {
		fmt.Fprintf(&b, "- %s # to %s: %s\n", quote(p.Name), p.why.deed, p.why.thing)
	}
	if more > 0 {
		fmt.Fprintf(&b, "# %d more would fit the words; a draft names %d at most\n", more, MaxDraft)
	}
	for _, name := range left {
		fmt.Fprintf(&b, "# left out: %s; nothing in the task bounds it\n", name)
	}
	if r.onlyRead() {
		b.WriteString("# The words do not tell which of the files is written: all are proposed for reading,\n# and none for writing.\n")
	}
	began := false
	for i, p := range picked {
		if len(p.args) == 0 {
			continue
		}
		if !began {
			b.WriteString("rules:\n")
			began = true
		}
		fmt.Fprintf(&b, "- name: tool-%d\n  allow: [%s]\n  args:\n", i+1, quote(p.Name))
		for _, l := range p.args {
			fmt.Fprintf(&b, "    %s: {%s} # %s\n", quote(l.name), l.text, l.why)
		}
	}
	b.WriteString("# Protected branches, paths that leave their place, private hosts and secrets in what is\n# written are refused by the default guards; `guards:` would change that.\n")
	return b.String()
}
