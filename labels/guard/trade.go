package guard

import (
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// A trade is what the name of a tool says that matters to guards.
type trade struct {
	git     bool // git is what runs
	push    bool
	commits bool // makes a commit
	other   bool // pushes or commits something that is not git's
	fetches bool
	looks   bool // reads, by its first word, and nothing is joined to that
	source  bool // makes a branch, a tag or a release, of what its "ref" names
	branch  bool // is about branches or refs, so that a bare "name" is one
	merges  bool // merges at once, and asks for no review: into its base or target
	asks    bool // is about a review, whose target is no destination
	files   bool // is about files, so that a bare "source" or "destination" is one
}

// tradeOf reads the name of a tool. It decides what a name among its arguments means,
// never what the tool does.
func tradeOf(tool string) (t trade) {
	first, makes, only, request := true, false, false, false
	var buf [64]byte
	for w, rest := nextWord(tool); w != "" || rest != ""; w, rest = nextWord(rest) {
		if w == "" {
			continue
		}
		if only { // "check" looks, "check_in" does not
			t.looks, only = false, false
		}
		switch string(lookalike.Fold(buf[:0], w)) {
		case "git":
			t.git = true
			continue // git_log looks
		case "push":
			t.push = true
		case "commit", "commits":
			t.commits = true
		case "ref", "refs":
			t.branch = true
		case "get", "list", "read", "search", "find", "fetch", "show", "view", "describe", "compare", "download":
			t.looks, t.fetches = t.looks || first, t.fetches || w[0]|0x20 == 'f' && len(w) == len("fetch")
		case "count", "check", "validate", "log", "diff", "blame", "status":
			t.looks, only = t.looks || first, first
		case "create", "new", "add", "make":
			makes = first
		case "branch", "branches":
			t.branch, t.source = true, makes
		case "tag", "release":
			t.source = makes
		case "merge":
			t.merges = true
		case "request", "requests", "mr", "mrs", "pr", "prs", "pull", "pulls":
			t.asks, request = true, true
		case "review", "reviews", "propose", "proposal", "proposals", "pullrequest", "pullrequests", "mergerequest", "mergerequests":
			t.asks = true
		case "file", "files", "folder", "folders", "directory", "directories", "dir", "dirs", "path", "paths", "fs", "disk":
			t.files = true
		case "and", "or", "then", "replace", "edit":
			t.looks = false
		}
		first = false
	}
	if t.push != t.commits {
		t.other = saysOther(tool)
	}
	t.merges = t.merges && !request
	return t
}

// others are words that say of a push or commit that it writes no ref: what is pushed,
// what is said of a commit, and what looks at some.
var others = words("notification notifications notify message messages sms email alert alerts event events metric metrics log logs device devices " +
	"token tokens subscription subscriptions web mobile queue stack array list item db database sql transaction transactions offset offsets kafka docker image images " +
	"container containers registry helm chart charts oci npm pypi package packages rule rules " +
	"status statuses comment comments discussion discussions note notes signature signatures diff diffs history info detail details stats search " +
	"summarize explain analyze analyse inspect verify review")

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// saysOther tells whether a word of a tool's name is one of others. What is done and
// something else with it is done.
func saysOther(tool string) (other bool) {
	var buf [64]byte
	for w, rest := nextWord(tool); w != "" || rest != ""; w, rest = nextWord(rest) {
		switch w := lookalike.Fold(buf[:0], w); string(w) {
		case "and", "or", "then", "with":
			return false
		default:
			other = other || others[string(w)]
		}
	}
	return other
}

// nextWord is the first word of a name, empty where a joint stands there, and the rest.
func nextWord(name string) (w, rest string) {
	if name == "" {
		return "", ""
	}
	i := 1
	for i < len(name) && goesOn(name[i-1], name[i]) {
		i++
	}
	w, rest = name[:i], name[i:]
	for w != "" && joints[w[len(w)-1]] {
		w = w[:len(w)-1]
	}
	return w, rest
}

// joints are what parts the words of a name.
var joints = [256]bool{'_': true, '-': true, '.': true, '/': true, ':': true, ' ': true}

// goesOn tells whether b stands in the word that a stands in.
func goesOn(a, b byte) bool { return !joints[a] && (!isUpper(b) || isUpper(a)) }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
