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
	people   []string        // mail addresses
	mailed   bool            // one of them is written to
	called   []string        // files that a word stands for
	written  map[string]bool // of files, folders and called: see roles
	spoken   string          // the last thing of the clause before
}

var (
	clauseEnd   = regexp.MustCompile(`(?i)[;:,!?]\s|\.\s|\.$|\n|\b(?:and|then|so that|after that)\b`)
	fileName    = regexp.MustCompile(`(?i)^[\w.@+-]+(?:/[\w.@+-]+)*\.(?:json|ya?ml|toml|md|txt|[cm]?[jt]sx?|go|py|lock|xml|html?|css|csv|sh|rs|java|kt|rb|php|cc?|h|cpp|mod|sum|cfg|conf|ini|sql|gradle|tf|vue|rst|adoc|proto|log)$`)
	bareFile    = regexp.MustCompile(`^(?:[\w.-]+/)*(?:Dockerfile|Makefile|LICENSE|README|CHANGELOG|CODEOWNERS|Gemfile|Jenkinsfile)$`)
	slashed     = regexp.MustCompile(`^[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+$`)
	branchLike  = regexp.MustCompile(`^(?:feature|feat|fix|bugfix|hotfix|release|chore|bot|renovate|dependabot|maintenance|update)/`)
	mailAddress = regexp.MustCompile(`^[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$`)
	folderName  = regexp.MustCompile(`^[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*$`)
	digits      = regexp.MustCompile(`^[0-9]{1,12}$`)
	numbered    = regexp.MustCompile(`^[#!]([0-9]{1,9})$`)
)

// readTask reads the words of a task. It knows no grammar: clauses, verbs and nouns.
func readTask(task string) *reading {
	r := &reading{words: map[string]bool{}}
	for _, clause := range clauseEnd.Split(r.names(task), -1) {
		r.clause(clause)
	}
	r.roles(task)
	if len(r.files) > 0 {
		r.want(look, "file")
	}
	if len(r.folders) > 0 {
		r.want(look, "folder")
	}
	if len(r.hosts) > 0 {
		r.want(look, "address")
	}
	if r.mailed && !slices.ContainsFunc(grants, func(w string) bool { return r.words[w] }) {
		r.want(send, "mail")
	}
	return r
}

// Words before an address that is written to, and verbs that give its owner something
// else than mail.
var (
	writtenTo = strings.Fields("to mail email e-mail tell notify inform cc bcc")
	grants    = strings.Fields("assign share add invite transfer grant")
)

// add adds what is not there yet.
func add(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// names finds what a task calls by name: files, projects, branches and so on. The rest
// is given back, with a noun in the place of each name: words within names are none.
func (r *reading) names(task string) string {
	var rest strings.Builder
	for line := range strings.Lines(task) {
		fields := strings.Fields(line)
		for i, f := range fields {
			name := strings.TrimRight(strings.TrimLeft(f, "\"'`([{<"), "\"'`)]}>,;:!?.")
			before, after := "", ""
			if i > 0 {
				before = strings.ToLower(strings.Trim(fields[i-1], "\"'`,;:"))
			}
			if i+1 < len(fields) {
				after = strings.ToLower(strings.Trim(fields[i+1], "\"'`,;:."))
			}
			if noun, ok := r.name(name, before, after); ok {
				f = strings.Replace(f, name, noun, 1)
			}
			rest.WriteString(f + " ")
		}
		rest.WriteByte('\n')
	}
	return rest.String()
}

// name takes a name, and tells what noun it is in a clause; empty: none.
func (r *reading) name(f, before, after string) (noun string, ok bool) {
	u, err := url.Parse(f)
	m := numbered.FindStringSubmatch(f)
	switch {
	case f == "":
		return "", false
	case err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		add(&r.hosts, u.Hostname())
		return "webaddress", true
	case m != nil:
		add(&r.numbers, m[1])
	case mailAddress.MatchString(f):
		add(&r.people, f)
		r.mailed = r.mailed || slices.Contains(writtenTo, before)
	case before == "branch" && !slices.Contains([]string{"named", "called", "of", "in", "for", "and", "with", "to", "from", "on"}, strings.ToLower(f)), after == "branch" && strings.Contains(f, "/"):
		add(&r.branches, f)
	case branchLike.MatchString(f) && (before == "named" || before == "called" || !fileName.MatchString(f)):
		add(&r.branches, f)
	case things[before] == "project" && digits.MatchString(f):
		add(&r.projects, f)
	default:
		return r.place(f, before, after)
	}
	return "", true
}

// place takes the name of a file, folder or project.
func (r *reading) place(f, before, after string) (noun string, ok bool) {
	bare := strings.TrimRight(f, "/")
	switch {
	case bare == "" || bare == "." || path.Clean(bare) != bare || strings.HasPrefix(bare, ".."):
		return "", false
	case bare == f && (fileName.MatchString(strings.TrimPrefix(f, "/")) || bareFile.MatchString(strings.TrimPrefix(f, "/"))):
		add(&r.files, f)
		return "file", true
	case f[0] == '/', bare != f && folderName.MatchString(bare), slashed.MatchString(bare) && (things[before] == "folder" || things[after] == "folder"):
		add(&r.folders, bare)
		return "folder", true
	case slashed.MatchString(f) && !strings.Contains(f, ".."):
		add(&r.projects, f)
		return "", true
	}
	return "", false
}

// clause reads the verbs of one clause, each with the noun that follows it; where none
// does, it is about what was spoken of before. What no verb is about is looked at.
func (r *reading) clause(text string) {
	words := joined(strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	}))
	var about []string
	object := map[string]bool{"project": true, "branch": true} // those are where things are
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
		if kept[w] != "" {
			add(&r.called, kept[w])
		}
		if ds != nil && (thing == "" || i == 0) && !slices.Contains(determiners, before) &&
			(i == 0 || !slices.Contains(vague, w) || slices.Contains(leads, before)) {
			looks = looks || slices.Contains(ds, look)
			object[r.does(w, words[i+1:], slices.Concat(about, []string{r.spoken, "file"}))] = true
		} else if thing != "" && !(thing == "branch" && somewhere(words[:i])) {
			about = slices.Insert(about, 0, thing)
		}
	}
	for _, thing := range about {
		if looks || thing == "file" || thing == "issue" || !object[thing] {
			r.want(look, thing)
		}
		r.spoken = thing
	}
}

// somewhere tells whether words end with one that only says where, and a determiner.
func somewhere(words []string) bool {
	if n := len(words); n > 1 && slices.Contains(determiners, words[n-1]) {
		words = words[:n-1]
	}
	return len(words) > 0 && slices.Contains(places, words[len(words)-1])
}

// does wants done what a verb says, to the first of things, and tells which that was.
func (r *reading) does(verb string, after, list []string) string {
	ds := deeds[verb]
	thing := list[slices.IndexFunc(list, func(t string) bool { return t != "" })]
	if slices.Contains(keeps, verb) && slices.Contains(list[:len(list)-2], "file") {
		if next := objectOf(after); verb == "write" && next != "" && next != "file" { // "write a note into a file"
			r.wantDone(create, next)
		}
		ds, thing = []deed{create}, "file"
	}
	if slices.Contains(ds, send) && r.mailed && thing != "comment" {
		thing = "mail"
	}
	disk := thing == "file" || thing == "folder"
	switch {
	case verb == "commit":
		r.want(record, "commit")
	case verb == "rename" && disk && len(r.files)+len(r.folders) > 1, verb == "move" && disk:
		ds = []deed{place}
		r.words["move"], r.words["rename"] = true, true // the same, of files
	case verb == "move":
		ds = []deed{place, change}
	case verb == "copy":
		ds = []deed{place, create}
	}
	for _, d := range ds {
		r.wantDone(d, thing)
	}
	return thing
}

// objectOf is the thing that stands next, behind determiners at most. Of two nouns in a
// row the first only says of what: "release notes".
func objectOf(words []string) string {
	for i, w := range words {
		switch {
		case slices.Contains(determiners, w) || w == "new":
		case i+1 < len(words) && things[words[i+1]] != "":
			return ""
		default:
			return things[w]
		}
	}
	return ""
}

// wantDone wants one thing done, and what has to be done for it.
func (r *reading) wantDone(d deed, thing string) {
	if d == remark {
		r.want(look, thing)
		d, thing = create, "comment"
	}
	r.want(d, thing)
	if thing == "file" && len(r.branches) > 0 && (d == change || d == create) || thing == "request" && d == create {
		r.want(create, "branch")
	}
	switch d {
	case change:
		r.want(look, thing)
	case run:
		r.want(create, thing)
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
