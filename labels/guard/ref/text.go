package ref

import "strings"

// holds judges a word that may hold a command line: where it stands first or behind a
// shell (read), where it begins with git, is the value of a variable, or, of git, in
// any place, since many options and settings of git are commands that it runs.
func (r *reading) holds(w string, read, git bool, depth int) string {
	blank := strings.ContainsAny(w, " \t\n") || strings.Contains(w, `\_`)
	name, value, set := assignment(w)
	if set {
		if why := r.environment(strings.TrimSuffix(name, "+"), value); why != "" {
			return why
		}
	}
	switch {
	case !blank && !strings.ContainsAny(w, "${`"+unknown), w == unknown, w == r.text:
		return ""
	case git && (r.mayRun(w)):
		before := r.git
		r.git = true
		defer func() { r.git = before }()
		return r.texts(w, depth)
	case set:
		if why := r.line(value, false, depth+1); why != "" {
			return why
		}
	}
	if read && w[0] == '-' && r.mayRun(w) { // an option of a program, with the line joined to it
		return r.texts(w, depth)
	}
	if read && (blank || strings.ContainsAny(w, "${`")) || blank && strings.HasPrefix(strings.TrimSpace(w), "git ") {
		return r.line(w, false, depth+1)
	}
	return ""
}

// mayRun tells whether a word could name git, with what a shell takes off it.
func (r *reading) mayRun(w string) bool { return mentionsGit(w) || strings.ContainsAny(w, "$`") }

// texts reads a word of git, and what stands in it behind the name of an option, a
// setting or a scheme.
func (r *reading) texts(w string, depth int) string {
	list := []string{w}
	if _, value, ok := strings.Cut(w, "="); ok {
		list = append(list, value)
		if _, value, ok = strings.Cut(value, "="); ok { // --config=key=value
			list = append(list, value)
		}
	}
	if _, value, ok := strings.Cut(w, "::"); ok { // ext::, in which a percent sign hides a blank
		list = append(list, value, strings.ReplaceAll(value, "% ", " "))
	}
	if len(w) > 1 && w[0] == '-' && w[1] != '-' {
		for i := 2; i < min(len(w), 6); i++ {
			list = append(list, w[i:])
		}
	}
	for _, t := range list {
		if why := r.line(t, false, depth+1); why != "" {
			return why
		}
	}
	return ""
}

// proseOptions are, by subcommand, those whose value is for people or says what to look
// for: letters, and long names in full.
var proseOptions = func() map[string]string {
	const says, looks = "m message author", "SG format pretty grep author committer"
	m := map[string]string{"grep": "e", "push": "o push-option", "interpret-trailers": "- trailer"}
	for w := range strings.FieldsSeq("commit tag merge notes stash commit-tree update-ref symbolic-ref") {
		m[w] = says
	}
	for w := range strings.FieldsSeq("log show shortlog whatchanged rev-list for-each-ref branch") {
		m[w] = looks
	}
	return m
}()

// prose marks the words that are texts for people, of git whose words begin at from.
func (r *reading) prose(words []string, from int, marks []bool) []bool {
	if marks == nil {
		marks = make([]bool, 0, 1) // not nil: git was there
	}
	i := from + subcommand(words[from:])
	if r.left -= i - from; i >= len(words) {
		return marks
	}
	letters, long, _ := strings.Cut(proseOptions[words[i]], " ")
	if letters == "" {
		return marks
	}
	if r.left -= len(words) - i; r.left < 0 {
		return marks
	}
	for len(marks) < len(words) {
		marks = append(marks, false)
	}
	for i++; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			return marks
		case strings.HasPrefix(w, "--"):
			name, _, joined := strings.Cut(w[2:], "=")
			if !strings.Contains(" "+long+" ", " "+name+" ") {
				break
			}
			if marks[i] = joined; !joined && i+1 < len(words) {
				i++
				marks[i] = true
			}
		case len(w) > 1 && w[0] == '-':
			at := strings.IndexAny(w, letters)
			if at > 1 && strings.Trim(w[1:at], "aefnpqsvw") != "" { // the value of another option, perhaps
				break
			}
			if marks[i] = at > 0 && at < len(w)-1; at == len(w)-1 && i+1 < len(words) {
				i++
				marks[i] = true
			}
		}
	}
	return marks
}
