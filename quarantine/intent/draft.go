package intent

import (
	"errors"
	"fmt"
	"slices"
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
	var picked []proposal
	for i := range catalogue {
		o := &catalogue[i]
		if w := o.fits(r, strings.ToLower(own)); o.Name != "" && w.deed != "" {
			picked = append(picked, proposal{o, w, o.limits(r, w)})
		}
	}
	if len(r.projects) > 0 && slices.ContainsFunc(picked, func(p proposal) bool { return p.placed() }) {
		picked = slices.DeleteFunc(picked, func(p proposal) bool { return !p.placed() }) // they would reach every project
	}
	slices.SortFunc(picked, func(a, b proposal) int {
		if n := slices.Index(r.wants, a.why) - slices.Index(r.wants, b.why); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	more := max(0, len(picked)-MaxDraft)
	picked = picked[:len(picked)-more]
	if len(picked) == 0 {
		return nil, ErrNothing
	}
	slices.SortFunc(picked, func(a, b proposal) int { return strings.Compare(a.Name, b.Name) })
	d := &Draft{Text: write(task, r, picked, more)}
	for _, p := range picked {
		d.Tools = append(d.Tools, p.Name)
	}
	if _, err := Parse([]byte(d.Text)); err != nil {
		return nil, err
	}
	return d, nil
}

// argument names by what they are.
var (
	pathArgs    = []string{"path", "file_path", "filepath", "filename", "file", "paths", "file_paths"}
	projectArgs = []string{"project_id", "project", "projectId", "repository", "full_name"}
	branchArgs  = []string{"branch", "branch_name", "source_branch"}
	numberArgs  = []string{"issue_iid", "issue_number", "merge_request_iid", "pull_number", "iid", "number"}
	hostArgs    = []string{"url", "uri", "href"}
	peopleArgs  = []string{"to", "recipient", "recipients", "email", "cc", "bcc"}
)

// limits are what the arguments of a tool are held to by what the task names.
func (o *Offer) limits(r *reading, w want) (out []limit) {
	for _, a := range o.Args {
		text, why := "", ""
		switch {
		case slices.Contains(pathArgs, a.Name) && w.deed != look && len(r.files) > 0:
			text, why = "file: "+list(r.files), "the task names these files"
		case slices.Contains(pathArgs, a.Name) && len(r.folders) > 0:
			text, why = "within: "+list(r.folders), "the task names this folder"
		case slices.Contains(projectArgs, a.Name) && len(r.projects) > 0:
			text, why = "one_of: "+list(r.projects), "the task names this project, and by this name only"
		case slices.Contains(branchArgs, a.Name) && w.deed != look && len(r.branches) > 0:
			text, why = "one_of: "+list(r.branches), "the task names this branch"
		case slices.Contains(numberArgs, a.Name) && len(r.numbers) > 0:
			text, why = "one_of: "+list(r.numbers), "the task names this number"
		case slices.Contains(hostArgs, a.Name) && len(r.hosts) > 0:
			text, why = "hosts: "+list(r.hosts), "the task names this host"
		case slices.Contains(peopleArgs, a.Name) && len(r.people) > 0:
			text, why = "recipients: "+list(r.people), "the task names these people"
		case (a.Name == "owner" || a.Name == "repo") && len(r.projects) == 1 && strings.Count(r.projects[0], "/") == 1:
			owner, repo, _ := strings.Cut(r.projects[0], "/")
			text, why = "equals: "+quote(map[string]string{"owner": owner, "repo": repo}[a.Name]), "the task names this project"
		default:
			continue
		}
		if !a.Top || slices.Contains([]string{"cc", "bcc"}, a.Name) {
			text += ", optional: true"
		}
		out = append(out, limit{a.Name, text, why})
	}
	return out
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
func write(task string, r *reading, picked []proposal, more int) string {
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
