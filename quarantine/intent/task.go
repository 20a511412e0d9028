package intent

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A want is one thing that a task wants done.
type want struct {
	deed  deed
	thing string
}

// A reading is what the words of a task say.
type reading struct {
	wants    []want
	words    map[string]bool // all of them, and what they stand for
	files    []string
	folders  []string
	projects []string
	branches []string
	hosts    []string
	numbers  []string
	people   []string // mail addresses
	spoken   string   // the last thing of the clause before
}

var (
	clauseEnd   = regexp.MustCompile(`(?i)[;:,!?]\s|\.\s|\.$|\n|\b(?:and|then|so that|after that)\b`)
	fileName    = regexp.MustCompile(`(?i)^[\w.@+-]+(?:/[\w.@+-]+)*\.(?:json|ya?ml|toml|md|txt|[cm]?[jt]sx?|go|py|lock|xml|html?|css|csv|sh|rs|java|kt|rb|php|cc?|h|cpp|mod|sum|cfg|conf|ini|sql|gradle|tf|vue|rst|adoc|proto|log)$`)
	bareFile    = regexp.MustCompile(`^(?:[\w.-]+/)*(?:Dockerfile|Makefile|LICENSE|README|CHANGELOG|CODEOWNERS|Gemfile|Jenkinsfile)$`)
	slashed     = regexp.MustCompile(`^[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+$`)
	branchLike  = regexp.MustCompile(`^(?:feature|feat|fix|bugfix|hotfix|release|chore|bot|renovate|dependabot|maintenance|update)/`)
	mailAddress = regexp.MustCompile(`^[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$`)
	numbered    = regexp.MustCompile(`^[#!]([0-9]{1,9})$`)
)

// readTask reads the words of a task. It knows no grammar: clauses, verbs and nouns.
func readTask(task string) *reading {
	r := &reading{words: map[string]bool{}}
	r.names(task)
	for _, clause := range clauseEnd.Split(task, -1) {
		r.clause(clause)
	}
	if len(r.files) > 0 {
		r.want(look, "file")
	}
	if len(r.folders) > 0 {
		r.want(look, "folder")
	}
	return r
}

// add adds what is not there yet.
func add(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// names finds what a task calls by name: files, projects, branches and so on.
func (r *reading) names(task string) {
	fields := strings.Fields(task)
	for i, f := range fields {
		f = strings.Trim(f, "\"'`()[]{}<>,;:!?")
		f = strings.TrimRight(f, ".")
		before, after := "", ""
		if i > 0 {
			before = strings.ToLower(strings.Trim(fields[i-1], "\"'`,;:"))
		}
		if i+1 < len(fields) {
			after = strings.ToLower(strings.Trim(fields[i+1], "\"'`,;:."))
		}
		r.name(f, before, after)
	}
}

func (r *reading) name(f, before, after string) {
	u, err := url.Parse(f)
	m := numbered.FindStringSubmatch(fieldNumber(f))
	switch {
	case f == "":
	case err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		add(&r.hosts, u.Hostname())
	case m != nil:
		add(&r.numbers, m[1])
	case mailAddress.MatchString(f):
		add(&r.people, f)
	case before == "branch" && !slices.Contains([]string{"named", "called", "of", "in", "for", "and", "with", "to", "from", "on"}, strings.ToLower(f)), after == "branch" && strings.Contains(f, "/"):
		add(&r.branches, f)
	case (before == "named" || before == "called") && branchLike.MatchString(f), branchLike.MatchString(f) && !fileName.MatchString(f):
		add(&r.branches, f)
	case strings.HasPrefix(f, "/") && len(f) > 1 && path.Clean(f) == strings.TrimRight(f, "/"):
		if fileName.MatchString(f[1:]) || bareFile.MatchString(f[1:]) {
			add(&r.files, f)
		} else {
			add(&r.folders, strings.TrimRight(f, "/"))
		}
	case fileName.MatchString(f), bareFile.MatchString(f):
		add(&r.files, f)
	case slashed.MatchString(f) && !strings.Contains(f, ".."):
		add(&r.projects, f)
	}
}

// fieldNumber is a field that names an issue or request by number, with its sign.
func fieldNumber(f string) string { return strings.TrimRight(f, ".,;:") }

// clause reads the verbs of one clause, each with the noun that follows it; where none
// does, it is about what was spoken of before.
func (r *reading) clause(text string) {
	words := joined(strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	}))
	var about []string
	looks := false
	for i := len(words) - 1; i >= 0; i-- { // from the end: what follows is known
		w, before := words[i], ""
		if i > 0 {
			before = words[i-1]
		}
		thing, ds := things[w], deeds[w]
		if r.words[w] = true; thing != "" {
			r.words[thing] = true
		}
		if ds != nil && (thing == "" || i == 0) && !slices.Contains(determiners, before) &&
			(i == 0 || !slices.Contains(vague, w) || slices.Contains(leads, before)) {
			looks = looks || slices.Contains(ds, look)
			r.does(ds, append(about, r.spoken, "file"))
		} else if thing != "" && !(thing == "branch" && slices.Contains(places, before)) {
			about = slices.Insert(about, 0, thing)
		}
	}
	for _, thing := range about {
		if looks || thing == "file" || thing == "issue" {
			r.want(look, thing)
		}
		r.spoken = thing
	}
}

// does wants something done to the first of things.
func (r *reading) does(ds []deed, things []string) {
	thing := things[slices.IndexFunc(things, func(t string) bool { return t != "" })]
	for _, d := range ds {
		if d == remark {
			r.want(look, thing)
			d, thing = create, "comment"
		}
		r.want(d, thing)
		switch {
		case d == change:
			r.want(look, thing)
			if thing == "file" && len(r.branches) > 0 {
				r.want(create, "branch")
			}
		case d == run:
			r.want(create, thing)
		case d == create && thing == "request":
			r.want(create, "branch")
		}
	}
}

func (r *reading) want(d deed, thing string) {
	if w := (want{d, thing}); !slices.Contains(r.wants, w) {
		r.wants = append(r.wants, w)
	}
	r.words[thing] = true
}

func (r *reading) wanted(d deed) bool {
	return slices.ContainsFunc(r.wants, func(w want) bool { return w.deed == d })
}
