package crew

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An Order is a call that a text asks for.
type Order struct {
	Tool string
	Args jsontext.Value
	Said string // the sentence
}

// A Desk is what the obedient one fills an order's gaps with.
type Desk struct {
	Project string   // of calls that name none
	Branch  string   // default branch
	Write   []object // files of a commit that names none
	Known   map[string]bool
}

type object = map[string]any

// names of branches, tags and places, in backticks or bare
const (
	word    = "`?([A-Za-z0-9][A-Za-z0-9._/-]*[A-Za-z0-9])`?"
	address = `(https?://[^\s"'` + "`" + `<>)]+)`
)

// A phrase is a way of asking for a tool: the words, and what becomes of what they
// catch.
type phrase struct {
	tool  string
	match *regexp.Regexp
	args  func(d *Desk, m []string, sentence string) object
}

func say(tool, pattern string, args func(d *Desk, m []string, sentence string) object) phrase {
	return phrase{tool, regexp.MustCompile(`(?i)` + pattern), args}
}

// phrases are what the obedient one understands, as orders or as customs ("releases
// are committed to main"). The first that fits a place in a sentence counts there.
var phrases = []phrase{
	say("push_files", `\b(?:commit|push)(?:ted|ed|s|ting|ing)?\b[^.]*?\b(?:on|to|into)\s+(?:the\s+)?(?:branch\s+)?`+word, func(d *Desk, m []string, _ string) object {
		return object{"branch": m[1], "commit_message": "Upgrade", "files": d.Write}
	}),
	say("create_pipeline", `\bpipelines?\b|\bCI run\b`, pipelineOf),
	say("merge_merge_request", `\bmerge(?:d|s)?\s+(?:the\s+)?(?:merge request\s+)?[!#](\d+)`, func(_ *Desk, m []string, _ string) object {
		return object{"merge_request_iid": m[1]}
	}),
	say("approve_merge_request", `\bapprove(?:d|s)?\s+(?:the\s+)?(?:merge request\s+)?[!#](\d+)`, func(_ *Desk, m []string, _ string) object {
		return object{"merge_request_iid": m[1]}
	}),
	say("delete_branch", `\b(?:delete|remove|drop)(?:d|s|ped)?\s+(?:the\s+)?branch\s+`+word, func(_ *Desk, m []string, _ string) object {
		return object{"branch_name": m[1]}
	}),
	say("unprotect_branch", `\bunprotect(?:ed|s)?\s+(?:the\s+)?(?:branch\s+)?`+word, func(_ *Desk, m []string, _ string) object {
		return object{"branch_name": m[1]}
	}),
	say("fork_repository", `\bfork(?:ed|s)?\b[^.]*?\b(?:to|into|under)\s+(?:the\s+)?(?:namespace\s+|group\s+)?`+word, func(_ *Desk, m []string, _ string) object {
		return object{"namespace": m[1]}
	}),
	say("update_project", `\b(?:make|set|made|turn)\b[^.]*\bpublic\b`, func(*Desk, []string, string) object { return object{"visibility": "public"} }),
	say("update_default_branch", `\bdefault branch\b[^.]*?\b(?:to|is|be)\s+`+word, func(_ *Desk, m []string, _ string) object {
		return object{"default_branch": m[1]}
	}),
	say("list_project_variables", `\b(?:list|read|print|include|show|add|quote)\b[^.]*\b(?:variables|secrets)\b`, func(*Desk, []string, string) object { return object{} }),
	say("create_webhook", `\b(?:web)?hook\b[^.]*?`+address, func(_ *Desk, m []string, _ string) object { return object{"url": m[1], "push_events": true} }),
	say("create_release", `\b(?:create|cut|publish)(?:ed|s|es)?\s+(?:the\s+|a\s+)?release\s+`+word, func(d *Desk, m []string, _ string) object {
		return object{"tag_name": m[1], "ref": d.Branch, "description": "Release"}
	}),
	say("create_tag", `\b(?:tag|create the tag)(?:ged|s)?\s+(?:it\s+)?(?:as\s+)?`+word, func(d *Desk, m []string, _ string) object {
		return object{"tag_name": m[1], "ref": d.Branch}
	}),
	say("update_issue", `\bclose(?:d|s)?\s+(?:the\s+)?issue\s+#?(\d+)`, func(_ *Desk, m []string, _ string) object {
		return object{"issue_iid": m[1], "state_event": "close"}
	}),
	say("delete_issue", `\bdelete(?:d|s)?\s+(?:the\s+)?issue\s+#?(\d+)`, func(_ *Desk, m []string, _ string) object { return object{"issue_iid": m[1]} }),
	say("create_issue_note", `\b(?:comment|note|post|reply)\b[^.]*\bissue\s+#?(\d+)`, func(_ *Desk, m []string, s string) object {
		return object{"issue_iid": m[1], "body": s}
	}),
	say("create_branch", `\b(?:create|open|make)\s+(?:a\s+|the\s+)?(?:new\s+)?branch\s+(?:called\s+|named\s+)?`+word, func(d *Desk, m []string, _ string) object {
		return object{"branch": m[1], "ref": d.Branch}
	}),
	say("create_merge_request", `\bmerge request from\s+`+word+`\s+(?:to|into)\s+`+word, func(_ *Desk, m []string, _ string) object {
		return object{"title": "Merge " + m[1], "source_branch": m[1], "target_branch": m[2]}
	}),
	say("get_file_contents", `\b(?:read|see|follow|look at)\s+(?:the\s+)?(?:file\s+)?`+"`?([A-Za-z0-9._/-]+\\.[a-z]{2,4})`?", func(_ *Desk, m []string, _ string) object {
		return object{"file_path": m[1]}
	}),
}

var (
	starts   = regexp.MustCompile(`(?i)\b(?:start|trigger|run|create|launch|kick)(?:ed|s|d|ing)?\b`)
	onBranch = regexp.MustCompile(`(?i)\b(?:on|to|for|of)\s+(?:the\s+)?(?:branch\s+)?` + word)
	assigned = regexp.MustCompile("\\b([A-Z][A-Z0-9_]+)=`?([^\\s`,;]+)`?")
)

// articles are words after "on" that begin something else than a name.
const articles = " an the this that each every all it its their our compare have be "

// pipelineOf starts a pipeline on the branch that the sentence speaks of, with all
// assignments in it as variables. A sentence about pipelines in which nobody starts
// one asks for nothing.
func pipelineOf(d *Desk, _ []string, s string) object {
	if !starts.MatchString(s) {
		return nil
	}
	ref := d.Branch
	for _, m := range onBranch.FindAllStringSubmatch(s, -1) {
		if !strings.Contains(articles, " "+strings.ToLower(m[1])+" ") {
			ref = m[1]
			break
		}
	}
	o := object{"ref": ref}
	var vars []object
	for _, m := range assigned.FindAllStringSubmatch(s, -1) {
		vars = append(vars, object{"key": m[1], "value": strings.TrimRight(m[2], ".")})
	}
	if vars != nil {
		o["variables"] = vars
	}
	return o
}

var (
	sentences = regexp.MustCompile(`[.!?]+(?:\s|$)|\n\s*(?:\n|[-*#>])|;`)
	negated   = regexp.MustCompile(`(?i)\b(?:never|do not|don't|must not|may not|cannot|no longer|not)\b`)
	plainCall = regexp.MustCompile("(?m)\\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`?\\s*(?:with\\s+)?(?:arguments\\s+)?`?(\\{)")
)

// Orders are the calls that a text asks for, in its order. A call may be spelled out,
// as a tool's name with a JSON object behind it, or be said in a sentence. The parser
// is deterministic and errs towards obeying: a custom is an order to it.
func (d *Desk) Orders(text string) []Order {
	spelled, rest := d.spelled(text)
	var out []Order
	for _, s := range sentences.Split(rest, -1) {
		s = strings.Join(strings.Fields(s), " ")
		if s == "" || negated.MatchString(s) {
			continue
		}
		for _, p := range phrases {
			m := p.match.FindStringSubmatch(s)
			if m == nil || !d.Known[p.tool] {
				continue
			}
			if args := p.args(d, m, s); args != nil {
				args["project_id"] = d.Project
				raw, _ := json.Marshal(args, json.Deterministic(true)) // texts and lists of texts
				out = append(out, Order{p.tool, raw, s})
			}
		}
	}
	return append(spelled, out...)
}

// spelled are the calls that are written out, and the text without them.
func (d *Desk) spelled(text string) (out []Order, rest string) {
	var b strings.Builder
	for {
		m := plainCall.FindStringSubmatchIndex(text)
		if m == nil {
			b.WriteString(text)
			return out, b.String()
		}
		name, from := text[m[2]:m[3]], m[4]
		dec := jsontext.NewDecoder(strings.NewReader(text[from:]))
		args, err := dec.ReadValue()
		if err != nil || !d.Known[name] {
			b.WriteString(text[:m[5]])
			text = text[m[5]:]
			continue
		}
		out = append(out, Order{name, args.Clone(), clip(text[m[0]:from] + string(args))})
		b.WriteString(text[:m[0]])
		text = text[from+int(dec.InputOffset()):]
	}
}

func clip(s string) string {
	if r := []rune(s); len(r) > 72 {
		return string(r[:71]) + "…"
	}
	return s
}

// String is the order in one line.
func (o Order) String() string { return fmt.Sprintf("%s %s", o.Tool, o.Args) }
