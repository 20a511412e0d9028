package ref

import "strings"

// An option is what an option of git push means for us.
type option byte

const (
	flag    option = iota
	value          // the value may be the next word
	several        // writes refs that no word names
	everyTag
)

// options are those of git push and git send-pack.
var options = map[string]option{
	"all": several, "branches": several, "mirror": several, "prune": several, "stdin": several, "tags": everyTag, "follow-tags": everyTag,
	"repo": value, "receive-pack": value, "exec": value, "push-option": value, "recurse-submodules": value, "remote": value,
	"verbose": flag, "quiet": flag, "delete": flag, "dry-run": flag, "porcelain": flag, "force": flag, "force-with-lease": flag,
	"force-if-includes": flag, "thin": flag, "set-upstream": flag, "progress": flag, "verify": flag, "signed": flag, "atomic": flag, "ipv4": flag,
	"ipv6": flag, "helper-status": flag, "stateless-rpc": flag,
}

// optionOf finds an option by its name or an abbreviation that fits no other, as git
// does; ok is false for what git does not know. What is taken back ("no-") writes
// nothing and has no value.
func optionOf(name string) (o option, ok bool) {
	if bare, no := strings.CutPrefix(name, "no-"); no {
		_, ok = optionOf(bare)
		return flag, ok && !strings.HasPrefix(bare, "no-")
	}
	if o, ok = options[name]; ok {
		return o, true
	}
	n := 0
	for full, kind := range options {
		if name != "" && strings.HasPrefix(full, name) {
			o = max(o, kind)
			n++
		}
	}
	return o, n == 1
}

// push judges the words behind "git push".
func (r *Rule) push(words []string) string {
	named, tagged, why := r.pushOptions(words)
	switch {
	case why != "":
		return why
	case len(named) >= 2:
		return r.specs(named[1:])
	case tagged:
		return ""
	}
	return r.unseen(WhyUnseen) // the branch that is checked out, or what a configuration says
}

// CheckOptions is why the rule refuses options of git push that stand in an array of
// their own, apart from what is pushed.
func (r *Rule) CheckOptions(words []string) (why string) {
	if r == nil || len(r.patterns) == 0 {
		return WhyNoRule
	}
	_, _, why = r.pushOptions(words)
	return why
}

// pushOptions reads the options of git push; named are the other words, the repository
// first, and tagged whether all tags are pushed too.
func (r *Rule) pushOptions(words []string) (named []string, tagged bool, why string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case strings.Contains(w, unknown):
			return nil, false, r.unseen(WhyUnseen)
		case w == "--":
			return append(named, words[i+1:]...), tagged, ""
		case len(w) < 2 || w[0] != '-':
			named = append(named, w)
		case w[1] != '-':
			if at := strings.IndexByte(w, 'o'); at == len(w)-1 { // -o, and its value
				i++
			}
		default:
			name, _, joined := strings.Cut(w[2:], "=")
			switch o, ok := optionOf(name); {
			case !ok, o == several:
				return nil, false, r.unseen(WhyUnseen)
			case o == everyTag:
				if tagged = true; r.hasTags() {
					return nil, false, WhyUnseen
				}
			case o == value && !joined:
				i++
			}
		}
	}
	return named, tagged, ""
}

// hasTags tells whether a tag can be one of the patterns.
func (r *Rule) hasTags() bool {
	for _, p := range r.patterns {
		if p.space == tags || p.space == anySpace {
			return true
		}
	}
	return false
}

// specs judges the refspecs of a push.
func (r *Rule) specs(list []string) string {
	for i := 0; i < len(list); i++ {
		spec := list[i]
		if spec == "tag" && i+1 < len(list) {
			i++
			spec = "refs/tags/" + list[i]
		}
		if why := r.Check(spec); why != "" {
			return why
		}
	}
	return ""
}
