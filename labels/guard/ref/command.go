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
	maxShell = 4            // command lines inside of command lines
	maxRead  = 32768        // words that are read for git: each git begins to read anew
	maxLines = 32 * MaxText // bytes of all command lines, in each reading
	lineCost = 128          // bytes that a line counts for besides its own
)

// A reading is one look at a command, with what is left of its bounds.
type reading struct {
	*Rule
	call  *Budget
	left  int    // words
	bytes int    // of lines
	named bool   // whether the text speaks of git at all
	git   bool   // whether it stands in the words of a git command, which may run it
	text  string // the line that is read
	piped bool   // whether a shell reads what a command of the line prints
	moved bool   // whether the line has gone to the folder of a repository
}

func newReading(r *Rule, call *Budget, named bool) *reading {
	return &reading{Rule: r, call: call, left: maxRead, bytes: maxLines, named: named}
}

// CheckWords is why the rule refuses the words of a command, as they stand in an array
// of arguments. Only what git is told to do counts: git stands among the words, or is
// known to be the command (git), whose words then begin with its options and the
// subcommand.
func (r *Rule) CheckWords(words []string, git bool) (why string) {
	return r.CheckWordsIn(new(Budget), words, git)
}

// CheckWordsIn is CheckWords, within what is left for a call.
func (r *Rule) CheckWordsIn(call *Budget, words []string, git bool) (why string) {
	if r == nil || len(r.patterns) == 0 {
		return WhyNoRule
	}
	if len(words) > maxWords {
		return WhyLong
	}
	cost := lineCost
	for _, w := range words {
		cost += len(w)
	}
	if !call.Take(cost) {
		return WhyLong
	}
	read := newReading(r, call, true)
	if why := read.inside(words, git); why != "" {
		return why
	}
	return read.words(words, git, 0)
}

// CheckCommand is why the rule refuses a command line, or several of them, as a shell
// reads it. What a shell puts in for a variable or a command is not known and counts as
// the worst, where git writes refs. It may be nothing, and git itself.
func (r *Rule) CheckCommand(line string, git bool) (why string) {
	return r.CheckCommandIn(new(Budget), line, git)
}

// CheckCommandIn is CheckCommand, within what is left for a call.
func (r *Rule) CheckCommandIn(call *Budget, line string, git bool) (why string) {
	named := git || mentionsGit(line)
	switch {
	case r == nil || len(r.patterns) == 0:
		return WhyNoRule
	case !named && !strings.ContainsAny(line, "$`{*?["):
		return ""
	case named && len(line) > MaxText:
		return WhyLong
	}
	return newReading(r, call, named).line(line, git, 0)
}

// line judges a text as a shell reads it: with nothing known of variables; with what
// the line itself sets, and braces; and as shells do that have other signs.
func (r *reading) line(line string, git bool, depth int) string {
	if r.bytes -= len(line) + lineCost; depth > maxShell || r.bytes < 0 || !r.call.Take(len(line)+lineCost) {
		return WhyLong
	}
	if why := r.commands(line, git, depth, false); why != "" {
		return why
	}
	if strings.ContainsAny(line, "$`{") || strings.Contains(line, "alias") {
		if why := r.commands(line, git, depth, true); why != "" {
			return why
		}
	}
	if strings.ContainsAny(line, "\\^") {
		if other := strings.ReplaceAll(windowsPath.ReplaceAllString(line, "/$1"), "^", ""); other != line {
			if why := r.line(other, git, depth); why != "" {
				return why
			}
		}
	}
	if lines := escapedLines.Replace(line); depth > 0 && lines != line {
		if why := r.line(lines, git, depth); why != "" {
			return why
		}
	}
	if listed := listOfWords.Replace(line); depth > 0 && listed != line {
		return r.line(noQuotes.Replace(listed), git, depth)
	}
	return ""
}

var (
	windowsPath = regexp.MustCompile(`\\([0-9A-Za-z_])`)
	noQuotes    = strings.NewReplacer("'", " ", `"`, " ")
	// escapedLines are those that printf makes, and env -S.
	escapedLines = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\_`, " ")
	// listOfWords are words as languages write them: ["git", "push"].
	listOfWords = strings.NewReplacer("',", " ", `",`, " ", "['", " ", `["`, " ", "']", " ", `"]`, " ")
)

// commands judges each command of a line.
func (r *reading) commands(line string, git bool, depth int, known bool) string {
	list, ok := commands(line, known)
	if !ok {
		return WhyLong
	}
	piped, text, moved := r.piped, r.text, r.moved
	r.text = line
	defer func() { r.piped, r.text, r.moved = piped, text, moved }()
	for _, words := range list {
		r.piped = r.piped || readsLines(words)
	}
	for _, words := range list {
		why := r.inside(words, git)
		if why == "" && !isRedirected(words) {
			why = r.words(words, git, depth)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// readsLines tells whether a command is a shell that runs what it reads, or a program
// that runs what it reads as words.
func readsLines(words []string) bool {
	if isRedirected(words) {
		return false
	}
	for i, w := range words {
		switch name := program(w); {
		case name == "xargs", name == "parallel", name == "ssh":
			return true
		case readers[name]:
			rest := words[i+1:]
			for len(rest) > 0 && (strings.HasPrefix(rest[0], "-") || strings.Contains(rest[0], unknown)) {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				return true
			}
		}
	}
	return false
}

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
		case s[i] == '"' || s[i] == '\'' || s[i] == '\\' || s[i] == '\n' || s[i] == '^':
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
	var prose []bool // words that are texts for people, of git
	if git {
		prose = r.prose(words, 0, prose)
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		name := program(w)
		if !more && (name == "xargs" || name == "parallel") { // further words come from elsewhere
			words, more = append(slices.Clone(words), unknown), true
		}
		if len(prose) <= i || !prose[i] || shell || r.piped {
			if why := r.holds(w, i == 0 || shell || r.git || r.piped, git || prose != nil, depth); why != "" {
				return why
			}
		}
		sub, dashed := strings.CutPrefix(name, "git-")
		switch {
		case name == "git":
			git = false
			prose = r.prose(words, i+1, prose)
			if why := r.read(words[i+1:]); why != "" {
				return why
			}
		case dashed && (prose == nil || !packs[sub]):
			if r.left -= len(words); r.left < 0 { // before it is copied
				return WhyLong
			}
			if prose = r.prose(words, i+1, prose); r.left < 0 {
				return WhyLong
			}
			if why := r.read(append([]string{sub}, words[i+1:]...)); why != "" {
				return why
			}
		case mayBeGit(w):
			if r.named && prose == nil && i+1 < len(words) {
				prose = r.prose(words, i+1, prose)
			}
			if why := r.perhaps(words[i+1:], i == 0); why != "" {
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
	if r.left -= len(words) + 1; r.left < 0 || !r.call.Take(wordCost*(len(words)+1)) {
		return WhyLong
	}
	return r.Rule.git(words)
}

// isSubcommand tells whether words begin with a subcommand of git that is known.
func isSubcommand(words []string) bool {
	return len(words) > 0 && (subcommands[words[0]] != nil || plainSubcommand[words[0]])
}

// perhaps judges the words behind what may be git, or another program: only what git
// alone writes counts, and where nothing speaks of git, only a protected name.
func (r *reading) perhaps(words []string, first bool) string {
	if r.left -= len(words) + 1; r.left < 0 || !r.call.Take(wordCost*(len(words)+1)) {
		return WhyLong
	}
	i := subcommand(words)
	if i == len(words) {
		return ""
	}
	sub := strings.ReplaceAll(words[i], unknown, "")
	switch {
	case r.named && (isSubcommand(words[i:]) || words[0] == "-c"):
		return r.Rule.git(words)
	case r.named && writers[sub]:
		return r.Rule.git(append([]string{sub}, words[i+1:]...))
	case !writers[sub] && !(first && strings.Contains(words[i], unknown)):
		return ""
	}
	for _, w := range words[i+1:] {
		if w == "" || w[0] == '-' || strings.Contains(w, unknown) {
			continue
		}
		if why := r.Check(w); why == WhyProtected {
			return why
		}
	}
	return ""
}

// shells read a word of theirs, or what they are given, as a command line, or as a
// program that may hold one.
var shells = wordSet("eval su env xargs parallel script watch trap sudo doas runuser flock cmd awk gawk mawk expect tmux screen " + interpreters)

// readers run what they read where they are given nothing else.
var readers = wordSet(interpreters)

const interpreters = "sh bash zsh dash ksh ash fish busybox powershell pwsh ssh wsl python python2 python3 perl ruby node nodejs deno bun php lua tclsh"

// packs are programs that options of git name.
var packs = wordSet("receive-pack upload-pack upload-archive")

// writers are the subcommands of git that write refs by name.
var writers = wordSet("push send-pack update-ref symbolic-ref fetch pull branch fast-import")

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// program is the name of a program in a word, in lower case, without its folder. What
// a shell would put into it is taken for nothing.
func program(word string) string {
	if strings.Contains(word, unknown) {
		word = strings.ReplaceAll(word, unknown, "")
	}
	if i := strings.LastIndexAny(word, `/\`); i >= 0 {
		word = word[i+1:]
	}
	word = strings.TrimLeft(word, "!@=")
	if len(word) > 32 {
		return ""
	}
	var buf [64]byte
	return string(bytes.TrimSuffix(lookalike.Fold(buf[:0], word), []byte(".exe")))
}

// mayBeGit tells whether a shell could make git of a word that is something else as it
// stands: with a variable or a pattern in it.
func mayBeGit(word string) bool {
	i := strings.LastIndexAny(word, `/\`)
	last := word[i+1:]
	if j := strings.LastIndex(last, unknown); j >= 0 { // what is before may end in a slash
		last = "*" + last[j+1:]
	}
	if !strings.ContainsAny(last, "*?[") || len(last) > 32 {
		return false
	}
	return (strings.Contains(word, unknown) || letters(strings.Trim(last, "*?[]")) > 0) && matches([]byte(patterns.Replace(last)), "git")
}

// patterns makes "*" of what a shell takes for one character or more. What is in
// brackets may be any.
var patterns = strings.NewReplacer("?", "*", "[", "*", "]", "*")
