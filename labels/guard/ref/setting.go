package ref

import "strings"

// setting judges key=value of a configuration: one that decides what a push writes or
// what a word means, and one that git runs as a command and that names a protected ref.
func (r *Rule) setting(text string) string {
	key, value, _ := strings.Cut(text, "=")
	if redirects(key) {
		return r.unseen(WhyUnseen)
	}
	if runs(key) && r.speaks(value) {
		return WhyProtected
	}
	return ""
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

// runs tells whether git runs the value of a setting as a command.
func runs(key string) bool {
	key = strings.ToLower(key)
	section, _, _ := strings.Cut(key, ".")
	name := key[strings.LastIndexByte(key, '.')+1:]
	return runSections[section] || runNames[name] || strings.HasSuffix(name, "cmd") || strings.HasSuffix(name, "command")
}

var (
	runSections = wordSet("pager sequence credential filter difftool mergetool gpg browser man guitool trailer hook sendemail")
	runNames    = wordSet("editor fsmonitor pager askpass gitproxy hookspath textconv driver external difffilter update packobjectshook program helper smtpserver " +
		"uploadpack receivepack proxycommand clean smudge process path")
)

// speaks tells whether a text has a protected ref among its words.
func (r *Rule) speaks(text string) bool {
	for w := range strings.FieldsFuncSeq(text, func(c rune) bool { return c < 0x80 && between(byte(c)) }) {
		if w[0] != '-' && r.Check(w) == WhyProtected {
			return true
		}
	}
	return false
}

// environment judges NAME=value where git reads it.
func (r *Rule) environment(name, value string) string {
	switch {
	case strings.HasPrefix(name, "GIT_CONFIG_KEY") && redirects(value):
		return r.unseen(WhyUnseen)
	case name == "GIT_CONFIG_PARAMETERS":
		for w := range strings.FieldsFuncSeq(value, func(c rune) bool { return c < 0x80 && between(byte(c)) }) {
			if redirects(w) {
				return r.unseen(WhyUnseen)
			}
		}
	case !runVariables[name]:
		return ""
	}
	if r.speaks(value) {
		return WhyProtected
	}
	return ""
}

// runVariables hold commands that git runs.
var runVariables = wordSet("GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND " +
	"EDITOR VISUAL PAGER BROWSER PROMPT_COMMAND BASH_ENV ENV")

// config refuses settings that would make a later word or push mean something else.
func (r *Rule) config(words []string) string {
	names, look := lookOf(words)
	if look {
		return ""
	}
	renames := has(words, "rename-section", 3)
	if len(names) > 0 {
		switch names[0] {
		case "get", "list": // as newer ones have it
			return ""
		case "rename-section":
			renames = true
		}
	}
	if !renames && r.aliases(names) {
		return ""
	}
	for i, w := range names {
		if redirects(w) && len(names) > 1 || renames && redirects(w+".") {
			return r.unseen(WhyUnseen)
		}
		if i+1 < len(names) && runs(w) && r.speaks(names[i+1]) {
			return WhyProtected
		}
	}
	return ""
}

// aliases tells whether names are those of an alias and of what it means, which is a
// subcommand that writes no branch and runs nothing: `config alias.st status`.
func (r *Rule) aliases(names []string) bool {
	if len(names) > 0 && names[0] == "set" {
		names = names[1:]
	}
	if len(names) != 2 || !strings.HasPrefix(strings.ToLower(names[0]), "alias.") || strings.Contains(names[0], unknown) {
		return false
	}
	means := strings.Fields(names[1])
	return len(means) > 0 && plainSubcommand[means[0]] && !runners[means[0]] && !mentionsGit(names[1]) && !r.speaks(names[1]) &&
		!strings.ContainsFunc(names[1], func(c rune) bool { return !strings.ContainsRune(aliasLetters, c) }) && r.git(means) == ""
}

// runners are subcommands that run what they are told.
var runners = wordSet("bisect submodule difftool mergetool")

// aliasLetters are what an alias is made of that means one command alone.
const aliasLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -=.,/%"

// lookOf are the words behind the options of git config, and whether one of these says
// that nothing is written. git reads options before the first other word only.
func lookOf(words []string) (names []string, look bool) {
	back := false
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		w := words[0]
		words = words[1:]
		switch {
		case w == "--":
			return words, look && !back
		case strings.HasPrefix(w, "--get"), w == "--list", w == "-l":
			look = true
		case strings.HasPrefix(w, "--no-"):
			back = true
		case strings.Contains(w, "="):
		case !strings.HasPrefix(w, "--") && strings.IndexAny(w, "ft") == len(w)-1, takesValue(w):
			words = words[min(1, len(words)):]
		}
	}
	return words, look && !back
}

func takesValue(w string) bool {
	for _, long := range []string{"file", "blob", "type", "default", "comment", "value", "url"} {
		if abbreviates(w, long, 1) {
			return true
		}
	}
	return false
}
