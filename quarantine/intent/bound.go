package intent

import (
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/labels"
)

// Names of arguments by what they are, squashed.
var (
	pathArgs    = strings.Fields("path paths filepath filepaths filename filenames file files sourcepath destinationpath srcpath dstpath oldpath newpath frompath topath previouspath targetpath")
	placeArgs   = strings.Fields("source destination src dst dest from to target oldname newname") // of a tool about files
	folderArgs  = strings.Fields("directory dir folder repopath")
	projectArgs = strings.Fields("projectid project repository fullname repo")
	branchArgs  = strings.Fields("branch branchname sourcebranch")
	numberArgs  = strings.Fields("issueiid issuenumber mergerequestiid pullnumber iid number")
	hostArgs    = strings.Fields("url urls uri href")
	moreArgs    = strings.Fields("cc bcc previouspath") // may be absent, and are no bound by themselves
	peopleArgs  = strings.Fields("to recipient recipients email emails toemail toemails emailaddress recipientemail cc bcc")
)

// squash is a name of an argument without case and signs.
func squash(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

func (o *Offer) has(names []string) bool {
	return slices.ContainsFunc(o.Args, func(a Arg) bool { return slices.Contains(names, squash(a.Name)) })
}

// onFiles tells whether the name of the tool speaks of files or folders.
func (o *Offer) onFiles() bool {
	return slices.ContainsFunc(nameWords(o.Name), func(w string) bool { return things[w] == "file" || things[w] == "folder" })
}

// reads tells whether the tool only reads, and reaches nothing outside that the task
// does not name.
func (p *proposal) reads() bool {
	plain := p.Effect == labels.Unclassified || p.Effect == labels.Read || p.Effect == labels.AllEffects
	return p.why.deed == look && plain && !p.has(hostArgs) && !slices.Contains(nameWords(p.Name), "web") // "search_web"
}

// bound tells whether words of the task bound what the tool can do: one argument of it,
// both ends of what is moved, and every host and recipient. A copy of a mail to somebody
// is no bound. A commit that takes no names records what else was allowed.
func (p *proposal) bound() bool {
	ends, held, people := 0, map[string]bool{}, false
	for _, l := range p.args {
		name := squash(l.name)
		if held[name] = true; !slices.Contains(moreArgs, name) {
			ends, people = ends+1, people || slices.Contains(peopleArgs, name)
		}
	}
	if p.why == (want{send, "mail"}) && !people || p.why == (want{place, "file"}) && ends < 2 {
		return false
	}
	for _, a := range p.Args {
		name := squash(a.Name)
		out := slices.Contains(hostArgs, name) || p.why.deed == send && slices.Contains(peopleArgs, name) && !slices.Contains(moreArgs, name)
		if a.Top && out && !held[name] {
			return false
		}
	}
	return ends > 0 || p.why.deed == record && !slices.ContainsFunc([][]string{pathArgs, projectArgs, hostArgs, peopleArgs}, p.has)
}

// limits are what the arguments of a tool are held to by what the task names.
func (o *Offer) limits(r *reading, w want) (out []limit) {
	for _, a := range o.Args {
		text, why := o.limit(r, w, squash(a.Name))
		if text == "" {
			continue
		}
		if !a.Top || slices.Contains(moreArgs, squash(a.Name)) || !a.Must && o.alternative(a) {
			text += ", optional: true"
		}
		out = append(out, limit{a.Name, text, why})
	}
	return out
}

// alternative tells whether the argument is one of several paths: of those that the
// schema does not require, a call may leave some out.
func (o *Offer) alternative(a Arg) bool {
	isPath := func(a Arg) bool {
		name := squash(a.Name)
		return a.Top && (slices.Contains(pathArgs, name) || slices.Contains(placeArgs, name) && o.onFiles())
	}
	return isPath(a) && slices.ContainsFunc(o.Args, func(b Arg) bool { return b != a && isPath(b) })
}

// limit is what one argument is held to, and why; empty: nothing.
func (o *Offer) limit(r *reading, w want, name string) (text, why string) {
	one := func(names, words []string) bool { return slices.Contains(names, name) && len(words) > 0 }
	switch {
	case slices.Contains(pathArgs, name), slices.Contains(placeArgs, name) && w.deed != send && o.onFiles():
		return r.places(w)
	case one(folderArgs, r.folders):
		return "within: " + list(r.folders), "the task names this folder"
	case (name == "owner" || name == "repo") && o.has([]string{"owner"}) && len(r.projects) == 1 && strings.Count(r.projects[0], "/") == 1:
		owner, repo, _ := strings.Cut(r.projects[0], "/")
		return "equals: " + quote(map[string]string{"owner": owner, "repo": repo}[name]), "the task names this project"
	case one(projectArgs, r.projects):
		return "one_of: " + values(r.projects), "the task names this project, and by this name only"
	case one(branchArgs, r.branches) && w.deed != look:
		return "one_of: " + list(r.branches), "the task names this branch"
	case one(numberArgs, r.numbers):
		return "one_of: " + values(r.numbers), "the task names this number"
	case one(hostArgs, r.hosts):
		return "hosts: " + list(r.hosts), "the task names this host"
	case one(peopleArgs, r.people):
		return "recipients: " + list(r.people), "the task names these people"
	}
	return "", ""
}

// places are the files and folders that a path is held to. What is changed is a file
// that the task wants written, where it names one; what is read or moved may lie in its
// folder.
func (r *reading) places(w want) (text, why string) {
	files, folders, called := r.files, r.folders, r.called
	if writes(w.deed) && w.deed != place {
		files, folders, called = r.toWrite(files), r.toWrite(folders), r.toWrite(called)
	}
	switch {
	case w.deed == look && len(files) > 0:
		files = slices.Clone(files)
		for _, f := range r.called {
			add(&files, f)
		}
	case len(files) == 0 && len(folders) == 0:
		files = called
	case len(folders) > 0 && w.deed != look && w.thing == "folder":
		files = nil
	case len(files) > 0 && w.deed != look && w.deed != place:
		folders = nil
	}
	switch {
	case len(files) > 0 && len(folders) > 0:
		return "file: " + list(files) + ", within: " + list(folders), "the task names these files and this folder"
	case len(files) > 0:
		return "file: " + list(files), "the task names these files"
	case len(folders) > 0:
		return "within: " + list(folders), "the task names this folder"
	}
	return "", ""
}

// values are names, those of digits as text and as number: servers take the one or the
// other.
func values(words []string) string {
	text := strings.TrimSuffix(list(words), "]")
	for _, w := range words {
		if digits.MatchString(w) && (w == "0" || w[0] != '0') {
			text += ", " + w
		}
	}
	return text + "]"
}
