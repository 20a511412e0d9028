package ref

import "strings"

// git judges what stands behind git: its options, the subcommand and that one's words.
func (r *Rule) git(words []string) string {
	n := subcommand(words)
	for i, w := range words[:n] {
		name, value, joined := strings.Cut(w, "=")
		if name != "-c" && name != "--config-env" {
			continue
		}
		if !joined && i+1 < n {
			value = words[i+1]
		}
		if why := r.setting(value); why != "" {
			return why
		}
	}
	if n == len(words) {
		return ""
	}
	if strings.ContainsAny(words[n], " \t\n") { // several words in one
		return r.git(append(strings.Fields(words[n]), words[n+1:]...))
	}
	sub, words := strings.ToLower(words[n]), words[n+1:]
	if len(words) == 1 && words[0] == "--help" && !strings.Contains(sub, unknown) { // git help
		return ""
	}
	if judge := subcommands[sub]; judge != nil {
		return judge(r, words)
	}
	switch {
	case strings.Contains(sub, unknown):
		return r.unseen(WhyUnseen)
	case plainSubcommand[sub]:
		return ""
	}
	return r.foreign(words) // an alias, or a program of one's own
}

// subcommand is where the subcommand stands behind git; len(words): nowhere.
func subcommand(words []string) int {
	i := 0
	for i < len(words) && strings.HasPrefix(words[i], "-") {
		name, _, joined := strings.Cut(words[i], "=")
		if i++; takesWord[name] && !joined {
			i++
		}
	}
	return min(i, len(words))
}

// takesWord are git's own options whose value may be the next word.
var takesWord = map[string]bool{
	"-C": true, "-c": true, "--git-dir": true, "--work-tree": true, "--namespace": true, "--super-prefix": true, "--config-env": true,
	"--attr-source": true, "--exec-path": false,
}

// subcommands are those that write refs by name, or that run another command.
var subcommands map[string]func(r *Rule, words []string) string

func init() {
	each, unseen := (*Rule).each, func(r *Rule, _ []string) string { return r.unseen(WhyUnseen) }
	subcommands = map[string]func(r *Rule, words []string) string{
		"push": (*Rule).push, "send-pack": (*Rule).push, "http-push": each,
		"fetch": (*Rule).fetch, "pull": (*Rule).fetch,
		"branch": func(r *Rule, words []string) string {
			return r.moves(words, "dDfmMcC", "delete", "force", "move", "copy")
		},
		"checkout":      func(r *Rule, words []string) string { return r.made(words, "bB", "") },
		"worktree":      func(r *Rule, words []string) string { return r.made(words, "bB", "") },
		"switch":        func(r *Rule, words []string) string { return r.made(words, "cC", "force-create") },
		"rebase":        (*Rule).rebase,
		"update-ref":    (*Rule).updateRef,
		"symbolic-ref":  (*Rule).symbolicRef,
		"tag":           (*Rule).tag,
		"remote":        (*Rule).remote,
		"reflog":        (*Rule).reflog,
		"filter-branch": (*Rule).filterBranch,
		"config":        (*Rule).config,
		"clone":         (*Rule).clone,
		"subtree":       (*Rule).subtree,
		"fast-import":   unseen, "filter-repo": unseen, "receive-pack": unseen,
		"for-each-repo": func(r *Rule, words []string) string { // behind its options a command of git
			for len(words) > 0 && strings.HasPrefix(words[0], "-") {
				if words = words[1:]; len(words) > 0 && strings.Contains(words[0], ".") { // the key of --config
					words = words[1:]
				}
			}
			return r.git(words)
		},
	}
}

// plainSubcommand are those that write no branch by name, neither here nor elsewhere.
var plainSubcommand = wordSet("add am annotate apply archive bisect blame bundle cat-file check-attr check-ignore check-ref-format cherry cherry-pick " +
	"clean commit commit-tree count-objects describe diff diff-files diff-index diff-tree difftool fast-export for-each-ref format-patch fsck gc " +
	"grep hash-object help init interpret-trailers log ls-files ls-remote ls-tree maintenance merge merge-base merge-tree mergetool mv name-rev notes range-diff " +
	"read-tree request-pull rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status " +
	"submodule update-index upload-archive upload-pack var verify-commit verify-tag version whatchanged write-tree")

// each judges every word that is no option, in commands that say in no way of ours
// which of them they write.
func (r *Rule) each(words []string) string {
	for _, w := range words {
		if strings.Contains(w, unknown) {
			return r.unseen(WhyUnseen)
		}
		if w == "" || w[0] == '-' {
			continue
		}
		if why := r.Check(w); why != "" {
			return why
		}
	}
	return ""
}

// foreign is each, for commands of which nothing is known: what an option is given may
// be written too.
func (r *Rule) foreign(words []string) string {
	for _, w := range words {
		if _, value, ok := strings.Cut(w, "="); ok && value != "" && w[0] == '-' && r.Check(value) == WhyProtected {
			return WhyProtected
		}
	}
	return r.each(words)
}

// abbreviates tells whether a word is a long option, or its beginning, of at least so
// many letters that no other is meant.
func abbreviates(w, long string, least int) bool {
	name, _, _ := strings.Cut(w, "=")
	return len(name) >= 2+least && strings.HasPrefix("--"+long, name)
}

// positional are the words that are no options and no values of them: letters and long
// are the options that take the next word, the long ones perhaps shortened.
func positional(words []string, letters string, long ...string) (list []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			return append(list, words[i+1:]...)
		case strings.HasPrefix(w, "--"):
			for _, l := range long {
				if !strings.Contains(w, "=") && abbreviates(w, l, 1) {
					i++
					break
				}
			}
		case len(w) < 2 || w[0] != '-':
			list = append(list, w)
		default:
			if at := strings.IndexAny(w[1:], letters); at >= 0 && at == len(w)-2 {
				i++
			}
		}
	}
	return list
}

// has tells whether a long option, or its beginning, is among the words.
func has(words []string, long string, least int) bool {
	for _, w := range words {
		if abbreviates(w, long, least) {
			return true
		}
	}
	return false
}

// fetch judges what a fetch writes to branches here; what it writes below refs/remotes
// is what the remote has.
func (r *Rule) fetch(words []string) string {
	named := 0
	for i, w := range words {
		name, value, joined := strings.Cut(w, "=")
		switch {
		case w == "":
		case abbreviates(w, "stdin", 2):
			return r.unseen(WhyUnseen)
		case abbreviates(w, "refmap", 3):
			if w = value; !joined {
				continue // the next word is judged as any
			}
		case w == "tag" && i+1 < len(words):
			if why := r.Check("refs/tags/" + words[i+1]); why != "" {
				return why
			}
		case w[0] == '-':
			continue
		default:
			if named++; strings.Contains(name+value, unknown) && (named > 1 || len(words) == 1) {
				return r.unseen(WhyUnseen)
			}
		}
		_, dst, ok := strings.Cut(w, ":")
		if !ok || strings.HasPrefix(dst, "refs/remotes/") || strings.HasPrefix(dst, "//") || strings.Contains(dst, "@") {
			continue
		}
		if why := r.Check(w); why != "" {
			return why
		}
	}
	return ""
}

// moves judges the names that a subcommand is given along with an option that moves or
// removes a branch: one of the letters, or of the long names or their beginnings.
func (r *Rule) moves(words []string, letters string, long ...string) string {
	moving := false
	for _, w := range words {
		switch {
		case strings.HasPrefix(w, "--"):
			for _, l := range long {
				moving = moving || abbreviates(w, l, 1)
			}
		case len(w) > 1 && w[0] == '-':
			i := strings.IndexAny(w, letters)
			if moving = moving || i > 0; i > 0 && i+1 < len(w) {
				if why := r.Check(w[i+1:]); why != "" {
					return why
				}
			}
		}
	}
	if !moving {
		return ""
	}
	return r.each(words)
}

// made judges the branch that a subcommand makes anew even where there is one: the
// value of the second letter. The first letter takes a value as well, and moves nothing.
func (r *Rule) made(words []string, letters, long string) string {
	for i, w := range words {
		value, found := "", false
		switch {
		case w == "--":
			return ""
		case strings.HasPrefix(w, "--"):
			if found = long != "" && w != "--force" && abbreviates(w, long, 1); found {
				_, value, _ = strings.Cut(w, "=")
			}
		case len(w) > 1 && w[0] == '-':
			if at := strings.IndexAny(w, letters); at > 0 && w[at] == letters[1] {
				value, found = w[at+1:], true
			}
		}
		if found && value == "" && i+1 < len(words) {
			value = words[i+1]
		}
		if !found || value == "" {
			continue
		}
		if strings.Contains(value, unknown) {
			return r.unseen(WhyUnseen)
		}
		if why := r.Check(value); why != "" {
			return why
		}
	}
	return ""
}
