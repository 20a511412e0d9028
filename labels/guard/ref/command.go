package ref

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// Bounds of a command.
const (
	maxWords = 4096
	maxShell = 3     // command lines inside of command lines
	maxRead  = 16384 // words that are read for git: each git begins to read anew
)

// A reading is one look at a command, with what is left of its bound.
type reading struct {
	*Rule
	left int // words
}

// CheckWords is why the rule refuses the words of a command, as they stand in an array
// of arguments. Only what git is told to do counts: git stands among the words, or is
// known to be the command (git), whose words then begin with its options and the
// subcommand.
func (r *Rule) CheckWords(words []string, git bool) (why string) {
	if r == nil || len(r.patterns) == 0 {
		return WhyNoRule
	}
	if len(words) > maxWords {
		return WhyLong
	}
	return (&reading{r, maxRead}).words(words, git, 0)
}

// CheckCommand is why the rule refuses a command line, or several of them, as a shell
// reads it. What a shell puts in for a variable or a command is not known and counts as
// the worst, where git writes refs.
func (r *Rule) CheckCommand(line string, git bool) (why string) {
	switch {
	case r == nil || len(r.patterns) == 0:
		return WhyNoRule
	case !git && !mentionsGit(line):
		return ""
	case len(line) > MaxText:
		return WhyLong
	}
	return (&reading{r, maxRead}).line(line, git, 0)
}

func (r *reading) line(line string, git bool, depth int) string {
	if depth > maxShell {
		return WhyLong
	}
	list, ok := commands(line)
	if !ok {
		return WhyLong
	}
	for _, words := range list {
		if why := r.words(words, git, depth); why != "" {
			return why
		}
	}
	if folders := windowsPath.ReplaceAllString(line, "/$1"); folders != line { // other shells
		return r.line(folders, git, depth)
	}
	return ""
}

var windowsPath = regexp.MustCompile(`\\([0-9A-Za-z_])`)

// mentionsGit tells whether a text could hold the word git, perhaps with quotes and
// backslashes in it.
func mentionsGit(s string) bool {
	at := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i] | 0x20; {
		case c == "git"[at]:
			if at++; at == len("git") {
				return true
			}
		case s[i] == '"' || s[i] == '\'' || s[i] == '\\' || s[i] == '\n':
		case c == 'g':
			at = 1
		default:
			at = 0
		}
	}
	return false
}

// words judges the words of one command. git may be its name or stand behind others:
// sudo, env, xargs, a path.
func (r *reading) words(words []string, git bool, depth int) string {
	shell, more := false, false
	for i, w := range words {
		name := program(w)
		if !more && (name == "xargs" || name == "parallel") { // further words come from elsewhere
			words, more = append(slices.Clone(words), unknown), true
		}
		if blank := strings.ContainsAny(w, " \t\n"); blank && (shell || i == 0 || strings.HasPrefix(strings.TrimSpace(w), "git ")) {
			if why := r.line(w, false, depth+1); why != "" {
				return why
			}
		}
		sub, dashed := strings.CutPrefix(name, "git-")
		switch {
		case name == "git", w == unknown && i+1 < len(words) && words[i+1] == "push":
			git = false
			if why := r.read(words[i+1:]); why != "" {
				return why
			}
		case dashed:
			if r.left -= len(words); r.left < 0 { // before it is copied
				return WhyLong
			}
			if why := r.read(append([]string{sub}, words[i+1:]...)); why != "" {
				return why
			}
		}
		shell = shell || shells[name]
	}
	if git {
		return r.read(words)
	}
	return ""
}

// read is git, within the bound.
func (r *reading) read(words []string) string {
	if r.left -= len(words) + 1; r.left < 0 {
		return WhyLong
	}
	return r.git(words)
}

// shells read a word of theirs as a command line.
var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "fish": true, "busybox": true, "cmd": true,
	"powershell": true, "pwsh": true, "eval": true, "su": true, "ssh": true, "env": true, "xargs": true, "script": true, "watch": true,
}

// program is the name of a program in a word, in lower case, without its folder.
func program(word string) string {
	if i := strings.LastIndexAny(word, `/\`); i >= 0 {
		word = word[i+1:]
	}
	if len(word) > 32 {
		return ""
	}
	var buf [64]byte
	return string(bytes.TrimSuffix(lookalike.Fold(buf[:0], word), []byte(".exe")))
}

// git judges what stands behind git: its options, the subcommand and that one's words.
func (r *Rule) git(words []string) string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		name, value, joined := strings.Cut(words[0], "=")
		words = words[1:]
		if !takesWord[name] {
			continue
		}
		if !joined && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		if (name == "-c" || name == "--config-env") && redirects(value) {
			return r.unseen(WhyUnseen)
		}
	}
	if len(words) == 0 {
		return ""
	}
	sub, words := strings.ToLower(words[0]), words[1:]
	switch sub {
	case "push", "send-pack":
		return r.push(words)
	case "fetch", "pull":
		return r.fetch(words)
	case "branch":
		return r.moves(words, "dDfmMcC", "delete", "force", "move", "copy")
	case "checkout":
		return r.moves(words, "B")
	case "switch":
		return r.moves(words, "C", "force-create")
	case "config":
		return r.config(words)
	}
	if strings.Contains(sub, unknown) {
		return r.unseen(WhyUnseen)
	}
	if plainSubcommand[sub] {
		return ""
	}
	return r.each(words) // subtree push, update-ref; an alias, or a program of one's own
}

// takesWord are git's own options whose value may be the next word.
var takesWord = map[string]bool{
	"-C": true, "-c": true, "--git-dir": true, "--work-tree": true, "--namespace": true, "--super-prefix": true, "--config-env": true,
	"--attr-source": true, "--exec-path": false,
}

// redirects tells whether a setting decides what a push writes, or what a word means.
func redirects(setting string) bool {
	key := strings.ToLower(setting)
	for _, p := range []string{"alias.", "push.", "remote.", "url.", "include", unknown} {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// plainSubcommand are those that write no branch by name, neither here nor elsewhere.
var plainSubcommand = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("add am apply archive bisect blame bundle cat-file check-ignore cherry cherry-pick clean clone commit " +
		"count-objects describe diff diff-tree difftool for-each-ref format-patch fsck gc grep help init log ls-files ls-remote ls-tree " +
		"maintenance merge merge-base mergetool mv name-rev notes range-diff rebase reflog remote reset restore rev-list rev-parse revert rm " +
		"shortlog show show-ref sparse-checkout stash status submodule tag var verify-commit verify-tag version whatchanged worktree") {
		m[w] = true
	}
	return m
}()
