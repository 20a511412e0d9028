package ref

import (
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/labels/guard/gitdir"
)

// WhyInside is said of a command that may write in the folder of a repository.
const WhyInside = "The command may write in the folder of a Git repository, whose refs, hooks and settings are there."

// Closed is the rule that also refuses commands which may write in the folder of a
// repository other than by git.
func (r *Rule) Closed() *Rule {
	closed := *r
	closed.closed = true
	return &closed
}

// redirected is the program of what is no command, but the file that one writes to.
const redirected = ">"

func isRedirected(words []string) bool { return len(words) == 2 && words[0] == redirected }

// inside is why a command is refused that may write in a repository's folder. What git
// is known to be the command of is not looked at.
func (r *reading) inside(words []string, git bool) string {
	switch {
	case !r.closed || len(words) == 0 || git && !isRedirected(words):
	case isRedirected(words):
		if reaches(words[1]) || r.moved && !strings.HasPrefix(words[1], "/") {
			return WhyInside
		}
	default:
		if r.writes(words) {
			return WhyInside
		}
	}
	return ""
}

func reaches(word string) bool { return gitdir.Of(word) != gitdir.Elsewhere }

// writes tells whether a command names a file in the folder and does not surely only
// read it, or does something else than read once the line has gone there.
func (r *reading) writes(words []string) bool {
	words = unwrapped(words)
	if len(words) == 0 || words[0] == "" || words[0][0] == '-' {
		return false
	}
	name, words := program(words[0]), words[1:]
	switch {
	case name == "cd" || name == "pushd" || name == "chdir":
		if i := slices.IndexFunc(words, func(w string) bool { return w != "" && w[0] != '-' }); i >= 0 {
			r.moved = reaches(words[i]) || r.moved && !strings.HasPrefix(words[i], "..") && words[i][0] != '/'
		} else {
			r.moved = false
		}
		return false
	case name == "git" || strings.HasPrefix(name, "git-") || name == "sort" || name == "tree":
		return outputs(words)
	case name == "sed" && !slices.ContainsFunc(words, inPlace), lookers[name]:
		return false
	case name == "find":
		return finds(words)
	}
	if r.moved {
		return true
	}
	switch {
	case copiers[name] && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-t") || strings.HasPrefix(w, "--t") }):
		words = words[max(0, len(words)-1):]
	case name == "zip" || name == "tar" && len(words) > 1 && strings.Contains(words[0], "c") && !strings.Contains(words[0], "x"):
		if i := slices.IndexFunc(words[1:], func(w string) bool { return w != "" && w[0] != '-' }); name == "tar" && i >= 0 {
			words = words[1+i : 2+i]
		} else if i = slices.IndexFunc(words, func(w string) bool { return w != "" && w[0] != '-' }); i >= 0 {
			words = words[i : i+1]
		}
	}
	return names(words, name == "rm" || name == "unlink")
}

// names tells whether a word is a file in the folder, options that leave files out
// aside, and locks where they are only taken away.
func names(words []string, locks bool) bool {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "" || w[0] == '!' {
			continue
		}
		if option, _, joined := strings.Cut(w, "="); w[0] == '-' && leavesOut(option) {
			if !joined {
				i++
			}
			continue
		}
		if reaches(w) && !(locks && strings.HasSuffix(w, ".lock")) {
			return true
		}
	}
	return false
}

func leavesOut(option string) bool {
	return strings.Contains(option, "exclude") || strings.Contains(option, "ignore") || strings.Contains(option, "skip")
}

// outputs tells whether an option says that something is written to the folder.
func outputs(words []string) bool {
	for i, w := range words {
		if strings.HasPrefix(w, "-o") && reaches(w[2:]) || strings.HasPrefix(w, "--output") && reaches(w) || i > 0 && (words[i-1] == "-o" || words[i-1] == "--output") && reaches(w) {
			return true
		}
	}
	return false
}

// inPlace tells whether an option of sed has it change the files that it reads.
func inPlace(w string) bool {
	return strings.HasPrefix(w, "--in") || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "i")
}

// finds tells whether find does something to what it finds in the folder: it starts
// there, or looks for it and does not leave it out.
func finds(words []string) bool {
	acts := slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") || w == "-delete" || strings.HasPrefix(w, "-fprint") || w == "-fls"
	})
	if !acts {
		return false
	}
	prunes, starts := slices.Contains(words, "-prune"), true
	for i, w := range words {
		starts = starts && (w == "" || w[0] != '-' && w[0] != '!')
		out := i > 1 && (words[i-2] == "!" || words[i-2] == "-not")
		if reaches(w) && (starts || !prunes && !out) {
			return true
		}
	}
	return false
}

// unwrapped are the words of a command without what only runs it: what a shell begins a
// part of a line with, variables that are set, sudo and its like with their options.
func unwrapped(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		if _, _, set := assignment(w); !set && !wrappers[program(w)] {
			return words
		}
		words = words[1:]
		for !(w == "!" || w == "{") && len(words) > 0 && len(words[0]) > 0 && (words[0][0] == '-' || '0' <= words[0][0] && words[0][0] <= '9') {
			n := 1
			if valued[words[0]] {
				n = 2
			}
			words = words[min(n, len(words)):]
		}
	}
	return nil
}

var (
	// wrappers run the words behind them.
	wrappers = wordSet("if then else elif do while until ! { time sudo doas env nice nohup command builtin exec xargs timeout stdbuf setsid ionice chronic")
	// valued are options of theirs whose value is the next word.
	valued = wordSet("-u -g -n -I -L -P -s -k -S")
	// lookers write no file that they name, or are read elsewhere: shells, by the line that they run.
	lookers = wordSet("ls cat head tail less more stat file wc grep egrep fgrep rg ag ack fd du diff cmp test [ [[ realpath readlink basename dirname md5sum sha1sum " +
		"sha256sum sha512sum shasum cksum echo printf xxd od hexdump strings cut uniq tr nl tac rev awk gawk jq bat exa eza dir pwd which true false : for case in " +
		"export declare local set unset readonly popd exit return source . sh bash zsh dash eval type get-content get-childitem test-path select-string wait sleep")
	// copiers write to the last of their words.
	copiers = wordSet("cp rsync scp copy copy-item ditto")
)
