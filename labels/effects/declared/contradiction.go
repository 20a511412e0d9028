package declared

import "strings"

// A claim is what a tool says of its effect.
type claim struct {
	reads bool // that it only reads; else that it destroys nothing
	at    int
	path  string
	how   string // in a sentence
}

// claims are what a tool says of its effect by annotations, and in so many words.
func claims(t *Tool) (out []claim) {
	for _, h := range t.Hints {
		switch {
		case h.Name == "readOnlyHint" && h.Value:
			out = append(out, claim{true, h.At, "annotations.readOnlyHint", "by its readOnlyHint it only reads"})
		case h.Name == "destructiveHint" && !h.Value:
			out = append(out, claim{false, h.At, "annotations.destructiveHint", "by its destructiveHint it destroys nothing"})
		}
	}
	if saysReadOnly(t.Description) {
		out = append(out, claim{true, t.Described, "description", "by its description it only reads"})
	}
	return out
}

// works tells whether the tool works on nothing but what it is given: numbers, texts,
// pictures. Its verbs say what becomes of that.
func (t *Tool) works() bool {
	if purposeOf(t).pure {
		return true
	}
	numbers := 0
	for i := range t.Leaves {
		l := &t.Leaves[i]
		if l.Named {
			continue
		}
		if len(l.Types) != 1 || l.Types[0] != "number" && l.Types[0] != "integer" || strings.HasSuffix(strings.ToLower(l.Name), "id") {
			return false
		}
		numbers++
	}
	return numbers > 1
}

// saysReadOnly tells whether a description claims that the tool itself only reads.
func saysReadOnly(text string) bool {
	if len(text) > longestText {
		text = text[:longestText]
	}
	low := strings.ToLower(text)
	for _, s := range [...]string{
		"this tool is read-only", "this tool is read only", "the tool is read-only", "this is a read-only", "this is read-only", "read-only operation", "read-only tool",
		"(read-only)", "[read-only]", "does not modify any", "does not change any", "doesn't modify any", "never modifies", "makes no changes", "without side effects", "has no side effects",
		"safe, read-only", "read-only:", "read-only.",
	} {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// contradictions holds claims against name, title, description and schema.
func contradictions(t *Tool) (out []Finding) {
	all := claims(t)
	if len(all) == 0 {
		return nil
	}
	for _, c := range all {
		d, where := worst(t, c.path != "description")
		if c.reads && d > reads || !c.reads && d == destroys {
			out = append(out, Finding{Kind: Contradiction, At: c.at, Path: c.path, Why: c.how + ", and " + where + " says that it " + d.says()})
			break // one is enough
		}
	}
	return out
}

// worst is the worst that name, title, schema and, if asked for, description say is
// done, and where it is said.
func worst(t *Tool, described bool) (d deed, where string) {
	take := func(x deed, at string) {
		if x > d {
			d, where = x, at
		}
	}
	name := deedOf(t.Name)
	if t.works() { // add, truncate_text, remove_background: of what they are given
		name = min(name, reads)
	} else {
		take(name, "its name")
		title := deedOf(t.Title)
		if name == unsaid || title == destroys {
			take(title, "its title")
		}
		if described {
			take(told(t.Description, name), "its description")
		}
	}
	x, leaf := t.schemaDeed(name)
	take(x, "its input "+quote(leaf))
	return d, where
}

// maxTold bounds the sentences of a description that are read.
const maxTold = 64

// told is what a description says is done: by the word that it begins with where the
// name says nothing, and by verbs in the third person that begin a sentence or
// follow "and".
func told(text string, name deed) (d deed) {
	for n := 0; text != "" && n < maxTold; n++ {
		s := firstSentence(text)
		rest := text[min(len(text), strings.Index(text, s)+len(s)):]
		text = strings.TrimLeft(rest, ".;!? \t\r\n-*#")
		raw := rawWordsOf(s)
		for i, w := range raw {
			verb, third := strings.CutSuffix(w, "s")
			x := deeds[w]
			if third && x == unsaid {
				x = max(deeds[verb], deeds[strings.TrimSuffix(verb, "e")])
			}
			if i > 0 && !acts(raw[0]) {
				break // of something else than the tool
			}
			if x <= reads || i+1 < len(raw) && doers[raw[i+1]] || soft[verb] || soft[w] || negated(raw[:i]) || makes(raw[i+1:]) {
				continue
			}
			switch {
			case i == 0 && n == 0 && name == unsaid, third && !nouns[verb] && (i == 0 || joins[raw[i-1]]):
				d = max(d, x)
			}
		}
	}
	return d
}

// acts tells whether a word that begins a sentence is a verb of what the tool does.
func acts(w string) bool {
	return deeds[w] != unsaid || deeds[strings.TrimSuffix(w, "s")] != unsaid || deeds[strings.TrimSuffix(w, "es")] != unsaid || verbs[w]
}

// verbs are others that begin such sentences.
var verbs = wordSet("returns gives shows takes says looks lets allows makes helps performs provides tells also then and reads tries scans syncs cleans")

// doers are words before which a word is what the sentence is about: writes are
// rejected.
var doers = wordSet("and or are is were was will can may must of")

// soft are verbs by which descriptions say how something is looked at.
var soft = wordSet(`generate resolve resolves reject execute run configure make mark apply order record store save set reset close closes attach import build
	cancel play format launch clear call copy copies`)

// negated tells whether what follows these words of a sentence is not done, or not
// by the tool.
func negated(words []string) bool {
	for _, w := range words {
		switch w {
		case "not", "never", "without", "no", "doesn't", "nothing", "cannot", "can", "if", "when", "who", "which", "that":
			return true
		}
	}
	return false
}

// makes tells whether what a verb is about, by the words behind it, is a view of
// what is there.
func makes(words []string) bool {
	for i, w := range words {
		switch {
		case products[singular(w)]:
			return true
		case i > 2, i > 0 && !articles[words[0]]:
			return false
		}
	}
	return false
}

var articles = wordSet("a an the all one any its this new")

// products are what a tool that only reads makes: a view of what is there.
var products = wordSet(`summary list report preview view chart plan query queries search request requests overview diff link url token signature graph diagram table
	snapshot plot image hash digest copy comparison explanation answer response prompt random uuid text number password script code filter analysis check test
	simulation estimate forecast map calculation result results output`)

// A sign is a leaf, or several together, by which a schema writes.
type sign struct {
	deed deed
	all  []string // names of leaves, each of which has to be there; alternatives are parted by |
	none string   // names that make it a search
}

const filters = "query limit max_results page per_page page_size since until before after sort order_by from cursor offset top_k"

var signs = []sign{
	{changes, []string{"content|contents|file_content|new_content|file_contents|content_base64", "path|file_path|filepath|filename|file_name|file|destination|dest|target_path|uri|output_path"}, filters},
	{changes, []string{"new_text|new_string|new_str|replacement|replace_with|new_content|new_value|new_name|new_path|new_title|new_body"}, ""},
	{changes, []string{"old_text|old_string|old_str", "new_text|new_string|new_str"}, ""},
	{changes, []string{"commit_message|write_mode|create_parents|create_if_missing|create_if_not_exists|create_dirs|make_parents|upsert|append_to_file"}, ""},
	{destroys, []string{"overwrite|overwrite_existing|force_overwrite|allow_overwrite|replace_existing|hard_delete|force_delete|delete_source|delete_original|delete_after|delete_after_read|delete_files|delete_branch|remove_source|remove_source_branch|remove_after|purge|permanently|permanent_delete|delete_permanently|truncate_table|wipe|confirm_delete|confirm_deletion|cascade_delete|delete_children|drop_table|drop_existing|delete_on_read|recursive_delete|skip_trash|should_remove_source_branch"}, ""},
	{sends, []string{"to|recipient|recipients|to_email|to_address", "body|message|html_body|text_body"}, filters},
	{sends, []string{"amount|amount_cents|sum", "recipient|payee|iban|to_account|beneficiary|destination_account|to_iban|recipient_account"}, filters},
	{runs, []string{"shell_command|command_to_run|script_to_run|bash_command|shell_script|code_to_execute|command_line|post_install_script"}, ""},
}

// schemaDeed is the worst that a schema says is done, and the leaf that says so.
func (t *Tool) schemaDeed(name deed) (d deed, leaf string) {
	if len(t.Leaves) == 0 {
		return unsaid, ""
	}
	have := make(map[string]string, len(t.Leaves))
	for i := range t.Leaves {
		l := &t.Leaves[i]
		have[strings.Join(wordsOf(l.Name), "_")] = l.Name
		if x := l.chosenDeed(name); x > d {
			d, leaf = x, l.Name
		}
	}
	for i := range signs {
		if s := &signs[i]; s.deed > d {
			if l, ok := s.in(have); ok {
				d, leaf = s.deed, l
			}
		}
	}
	return d, leaf
}

// in tells whether the sign is among names, and gives the last of its leaves.
func (s *sign) in(have map[string]string) (leaf string, ok bool) {
	for _, alternatives := range s.all {
		found := false
		for a := range strings.SplitSeq(alternatives, "|") {
			if n, is := have[strings.Join(wordsOf(a), "_")]; is {
				leaf, found = n, true
				break
			}
		}
		if !found {
			return "", false
		}
	}
	for f := range strings.FieldsSeq(s.none) {
		if _, is := have[strings.Join(wordsOf(f), "_")]; is {
			return "", false
		}
	}
	return leaf, true
}

// chosenDeed is the worst among what a leaf lets a call choose to do.
func (l *Leaf) chosenDeed(name deed) (d deed) {
	switch strings.Join(wordsOf(l.Name), "_") {
	case "method", "http_method", "verb", "request_method":
		for _, v := range l.Values {
			switch v {
			case "POST", "PUT", "PATCH":
				d = max(d, changes)
			case "DELETE":
				d = max(d, destroys)
			}
		}
	case "operation", "op", "action", "mode", "command", "sub_command", "subcommand", "task":
		if name == reads {
			return unsaid // what is looked for
		}
		for _, v := range l.Values {
			if x := deedOf(v); x > reads {
				d = max(d, x)
			}
		}
	}
	return d
}

// schemaWrites tells whether the schema says that anything but reading is done.
func (t *Tool) schemaWrites() bool {
	d, _ := t.schemaDeed(unsaid)
	return d > reads
}

func apparent(t *Tool) (a Acts) {
	d, _ := worst(t, true)
	a = d.acts()
	if d, _ := t.schemaDeed(deedOf(t.Name)); d > reads {
		a = a&^Reads | d.acts()
	}
	h := hintsOf(t)
	switch {
	case a == 0:
		return 0
	case h.reads == no && a == Reads:
		a |= Writes
	}
	if h.destroys == yes {
		a |= Writes | Destroys
	}
	if h.open == yes {
		a |= Egress
	}
	return a
}
