package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ruleKeys are the keys of a rule, in the order in which people read them.
var ruleKeys = strings.Fields("name allow ask never methods effects origins agents args when rate new assurance results say shadow")

// rulesText is a rule file for people to read, of its canonical spelling. It is read as
// the same rules.
func rulesText(raw jsontext.Value) string {
	var file struct {
		Shadow jsontext.Value              `json:"shadow"`
		Guards jsontext.Value              `json:"guards"`
		Rules  []map[string]jsontext.Value `json:"rules"`
	}
	if json.Unmarshal(raw, &file) != nil {
		return string(raw) + "\n"
	}
	var b strings.Builder
	if file.Shadow != nil {
		b.WriteString("shadow: " + string(file.Shadow) + "\n")
	}
	if file.Guards != nil {
		b.WriteString("guards: " + flow(file.Guards) + "\n")
	}
	b.WriteString("rules:\n")
	for _, r := range file.Rules {
		lead := "- "
		for _, key := range orderOf(r) {
			b.WriteString(lead + key + ":" + under(key, r[key]) + "\n")
			lead = "  "
		}
	}
	return b.String()
}

// orderOf are the keys of a rule: those that are known here first.
func orderOf(r map[string]jsontext.Value) (list []string) {
	for _, key := range ruleKeys {
		if r[key] != nil {
			list = append(list, key)
		}
	}
	var more []string
	for key := range r {
		if !slices.Contains(ruleKeys, key) {
			more = append(more, key)
		}
	}
	slices.Sort(more)
	return append(list, more...)
}

// under is what stands behind a key of a rule.
func under(key string, raw jsontext.Value) string {
	var text string
	if key == "when" && json.Unmarshal(raw, &text) == nil && strings.Contains(text, "\n") && !strings.ContainsAny(text[:1], " \t") {
		return " |-\n    " + strings.ReplaceAll(text, "\n", "\n    ")
	}
	if key != "args" {
		return " " + flow(raw)
	}
	var b strings.Builder
	for _, m := range membersOf(raw) {
		b.WriteString("\n    " + flow(m[0]) + ": " + flow(m[1]))
	}
	return b.String()
}

// membersOf are the members of an object, in their order.
func membersOf(raw jsontext.Value) (list [][2]jsontext.Value) {
	d := jsontext.NewDecoder(strings.NewReader(string(raw)))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		name = slices.Clone(name)
		v, err2 := d.ReadValue()
		if err != nil || err2 != nil {
			return list
		}
		list = append(list, [2]jsontext.Value{name, slices.Clone(v)})
	}
	return list
}

// bareWord is a text that YAML reads as the same without quotes.
var (
	bareWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)
	noWord   = strings.Fields("true false null yes no on off y n")
)

// flow is a JSON value on one line, with quotes where they are needed.
func flow(raw jsontext.Value) string {
	switch raw.Kind() {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil && bareWord.MatchString(s) && !slices.Contains(noWord, strings.ToLower(s)) {
			return s
		}
	case '[':
		var list []jsontext.Value
		if json.Unmarshal(raw, &list) != nil {
			break
		}
		var out []string
		for _, v := range list {
			out = append(out, flow(v))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case '{':
		var out []string
		for _, m := range membersOf(raw) {
			out = append(out, flow(m[0])+": "+flow(m[1]))
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	return string(raw)
}
