package guard

import "github.com/pratique-dev/pratique/internal/lookalike"

// A trade is what the name of a tool says that matters to guards.
type trade struct {
	git     bool // git is what runs
	push    bool
	fetches bool
	looks   bool // reads, by its first word, and nothing is joined to that
	source  bool // makes a branch, a tag or a release, of what its "ref" names
	branch  bool // is about branches, so that a bare "name" is one
	merges  bool // merges at once, and asks for no review: into its base or target
	asks    bool // is about a review, whose target is no destination
	files   bool // is about files, so that a bare "source" or "destination" is one
}

// tradeOf reads the name of a tool. It decides what a name among its arguments means,
// never what the tool does.
func tradeOf(tool string) (t trade) {
	first, makes, only, request := true, false, false, false
	var buf [64]byte
	for i := 0; i < len(tool); {
		j := i + 1
		for j < len(tool) && goesOn(tool[j-1], tool[j]) {
			j++
		}
		w := tool[i:j]
		for w != "" && joints[w[len(w)-1]] {
			w = w[:len(w)-1]
		}
		if i = j; w == "" {
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
	t.merges = t.merges && !request
	return t
}

// joints are what parts the words of a name.
var joints = [256]bool{'_': true, '-': true, '.': true, '/': true, ':': true, ' ': true}

// goesOn tells whether b stands in the word that a stands in.
func goesOn(a, b byte) bool { return !joints[a] && (!isUpper(b) || isUpper(a)) }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
