package intent

import (
	"strings"
	"unicode"
)

// What a task wants done, and what names of tools say that they do.
type deed string

// The deeds.
const (
	look   deed = "read"
	change deed = "change"
	create deed = "create"
	remove deed = "remove"
	send   deed = "send"
	run    deed = "run"
	remark deed = "comment" // to leave a comment on something
	place  deed = "move"    // to have a file elsewhere, or under another name
	record deed = "commit"  // to make a commit of what was changed
)

// deeds are verbs, in tasks and in names of tools. A verb may be several.
var deeds = map[string][]deed{}

// things are nouns, each by the one word that stands for it.
var things = map[string]string{}

// determiners stand before nouns: what looks like a verb behind one is none.
var determiners = strings.Fields("the a an all any each every my our their your its this these those some no of")

// vague are verbs that are nouns or adjectives as often: they count where a clause
// begins, or behind one of these.
var (
	vague = strings.Fields("start open build report cut file post message run look note draft cancel label set new document show query trigger reply comment answer fork raise commit put")
	leads = strings.Fields("to and or then please also must should will can just only now")
)

// strong are verbs that a task has to say itself, since no other verb means them.
var strong = strings.Fields("move rename copy merge approve close reopen publish fork transfer share cancel retry resolve assign upload insert forward invite play")

// places stand before what only says where.
var places = strings.Fields("on to in into from against onto at")

// keeps are verbs of a file, where their clause names one: what else is spoken of there
// is what goes into it.
var keeps = strings.Fields("save store put write")

// kept are files that are called by a word.
var kept = map[string]string{"changelog": "CHANGELOG.md", "readme": "README.md"}

// noise are words in names of tools that say nothing of what a tool is about.
var noise = map[string]bool{}

func init() {
	for d, words := range map[deed]string{
		look:   "read look check find list show summarise summarize review inspect search get fetch report tell count explain analyse analyze compare view describe browse query download scrape see which what how",
		change: "bump update upgrade raise change edit modify fix correct replace write set refactor format translate adjust apply implement improve document rename push commit close reopen resolve label assign triage approve merge append rewrite increase lower pin prepend",
		create: "create open make new start draft submit file add prepare write publish upload insert raise push fork leave cut save store put",
		remove: "delete remove drop purge erase unlink clear",
		send:   "send mail email notify post message reply forward invite",
		remark: "comment reply note answer respond remark",
		place:  "move rename copy",
		run:    "run execute trigger deploy build retry cancel play launch invoke eval",
	} {
		for w := range strings.FieldsSeq(words) {
			deeds[w] = append(deeds[w], d)
		}
	}
	for thing, words := range map[string]string{
		"file":    "file files manifest dependency dependencies package packages readme changelog docs documentation code config configuration source script lockfile document documents typo",
		"folder":  "folder folders directory directories dir tree",
		"branch":  "branch branches",
		"request": "mergerequest pullrequest mr prs pr mrs",
		"issue":   "issue issues bug bugs ticket tickets",
		"project": "repo repository repositories project projects",
		"commit":  "commit commits", "address": "webaddress", "tag": "tag tags", "release": "release releases", "pipeline": "pipeline pipelines workflow workflows", "job": "job jobs",
		"label": "label labels", "milestone": "milestone milestones", "wiki": "wiki", "user": "user users member members people", "group": "group groups namespace namespaces",
		"comment": "comment comments note notes discussion discussions thread threads reply", "diff": "diff diffs changes patch",
		"entity": "entity entities", "relation": "relation relations", "observation": "observation observations", "graph": "graph knowledge memory node nodes",
		"mail": "mail mails email emails message messages inbox", "page": "page pages url web website site", "event": "event events calendar meeting meetings appointment",
		"row": "table tables row rows record records database sql", "hook": "webhook webhooks hook hooks", "variable": "variable variables secret secrets", "contact": "contact contacts",
	} {
		for w := range strings.FieldsSeq(words) {
			things[w] = thing
		}
	}
	for w := range strings.FieldsSeq("content contents text by id from to the of in on or and all for with multiple single many details detail info data my a an one some current media git") {
		noise[w] = true
	}
}

// nameWords takes the name of a tool apart: at what is no letter or digit, and where a
// capital begins a word. A merge request is one word.
func nameWords(name string) []string {
	var words []string
	var w []rune
	end := func() {
		if len(w) > 0 {
			words = append(words, strings.ToLower(string(w)))
			w = nil
		}
	}
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && len(w) > 0 && !unicode.IsUpper(w[len(w)-1]):
			end()
		}
		w = append(w, r)
	}
	end()
	return joined(words)
}

// joined makes one word of two that mean one thing.
func joined(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		if i+1 < len(words) && (words[i] == "merge" || words[i] == "pull") && strings.HasPrefix(words[i+1], "request") {
			out = append(out, words[i]+"request")
			i++
			continue
		}
		out = append(out, words[i])
	}
	return out
}
