package ref

import "strings"

// rebase judges the branch that a rebase checks out first and moves: the second name,
// or the first where there is no upstream. What it would move besides cannot be seen.
func (r *Rule) rebase(words []string) string {
	if has(words, "update-refs", 2) {
		return r.unseen(WhyUnseen)
	}
	names := positional(words, "sXxC", "strategy", "strategy-option", "exec", "onto", "whitespace", "empty")
	if !has(words, "root", 2) && len(names) > 0 {
		names = names[1:]
	}
	return r.each(names)
}

// updateRef judges the ref that is written; its value is no destination.
func (r *Rule) updateRef(words []string) string {
	if has(words, "stdin", 1) {
		return r.unseen(WhyUnseen)
	}
	return r.each(firstOf(positional(words, "m")))
}

// symbolicRef judges the ref that is made one of another, where it is not read.
func (r *Rule) symbolicRef(words []string) string {
	names := positional(words, "m")
	if len(names) < 2 && !has(words, "delete", 1) && !hasLetter(words, 'd') && !strings.Contains(strings.Join(names, ""), unknown) {
		return ""
	}
	if len(names) > 0 && strings.EqualFold(names[0], "HEAD") { // is a checkout without files
		return ""
	}
	return r.each(firstOf(names))
}

// tag judges tags that are moved or removed.
func (r *Rule) tag(words []string) string {
	force := has(words, "force", 3) || hasLetter(words, 'f')
	remove := has(words, "delete", 1) || hasLetter(words, 'd')
	if !force && !remove || !r.hasTags() {
		return ""
	}
	names := positional(words, "mFun", "message", "file", "local-user", "cleanup", "sort", "format", "points-at", "contains", "no-contains", "merged", "no-merged")
	if !remove {
		names = firstOf(names)
	}
	for _, name := range names {
		if strings.Contains(name, unknown) {
			return r.unseen(WhyUnseen)
		}
		if why := r.Check("refs/tags/" + name); why != "" {
			return why
		}
	}
	return ""
}

// remote refuses a remote whose refs become those here, or whose refs ours become.
func (r *Rule) remote(words []string) string {
	if len(words) > 0 && words[0] != "add" && !strings.HasPrefix(words[0], "-") && !strings.Contains(words[0], unknown) {
		return ""
	}
	if has(words, "mirror", 2) {
		return r.unseen(WhyUnseen)
	}
	return ""
}

// reflog judges the refs that lose entries and are set to what is left.
func (r *Rule) reflog(words []string) string {
	switch {
	case !has(words, "updateref", 1):
		return ""
	case has(words, "all", 1):
		return r.unseen(WhyUnseen)
	}
	return r.each(words)
}

// filterBranch judges the branches that are written anew.
func (r *Rule) filterBranch(words []string) string {
	for _, many := range []string{"all", "branches", "tags", "remotes", "glob", "stdin"} {
		if has(words, many, 3) {
			return r.unseen(WhyUnseen)
		}
	}
	names := positional(words, "", "setup", "env-filter", "tree-filter", "index-filter", "parent-filter", "msg-filter", "commit-filter", "tag-name-filter",
		"subdirectory-filter")
	for i, name := range names {
		if from, to, ok := strings.Cut(name, ".."); ok { // of a range its end is
			if names[i] = to; strings.HasPrefix(to, ".") {
				names[i] = from + "," + to[1:]
			}
		}
	}
	return r.each(names)
}

// clone judges the settings that the new repository gets.
func (r *Rule) clone(words []string) string {
	for i, w := range words {
		value, ok := "", false
		switch {
		case strings.HasPrefix(w, "--"):
			if ok = abbreviates(w, "config", 1); ok {
				_, value, _ = strings.Cut(w, "=")
			}
		case len(w) > 1 && w[0] == '-':
			if at := strings.IndexByte(w, 'c'); at > 0 {
				value, ok = w[at+1:], true
			}
		}
		if ok && value == "" && i+1 < len(words) {
			value = words[i+1]
		}
		if !ok {
			continue
		}
		if why := r.setting(value); why != "" {
			return why
		}
	}
	return ""
}

// subtree judges what a pull or an add of a part fetches; whatever else it is told to do
// is read like a command of which nothing is known.
func (r *Rule) subtree(words []string) string {
	names := positional(words, "Pmb", "prefix", "message", "annotate", "branch", "onto")
	if len(names) == 0 || names[0] != "pull" && names[0] != "add" || has(words, "branch", 1) || hasLetter(words, 'b') {
		return r.foreign(words)
	}
	return r.fetch(names[1:])
}

func firstOf(list []string) []string { return list[:min(1, len(list))] }

// hasLetter tells whether a short option is among the words.
func hasLetter(words []string, letter byte) bool {
	for _, w := range words {
		if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexByte(w, letter) > 0 {
			return true
		}
	}
	return false
}
