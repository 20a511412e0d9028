package labels

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// readVerbs begin the names of tools that look and do not touch. A verb that
// may also run what it is given (query, fetch, open, check) is none of them.
var readVerbs = map[string]bool{
	"get": true, "list": true, "read": true, "search": true, "find": true, "show": true, "describe": true, "count": true,
	"lookup": true, "view": true,
}

// otherVerbs in a name, wherever they stand, speak against a read.
var otherVerbs = wordSet(`accept add append apply approve archive assign book buy call cancel change clear clone close comment
	commit configure copy create deactivate delete deploy destroy disable download drop edit enable exec execute export fork
	forward grant import insert install invite invoke kill lock mark merge modify move notify open order overwrite pay play post
	publish purge push put query reboot rebase register reject remove rename replace reply reset resolve restart restore retry
	revert revoke run save schedule send set share sign start stop submit subscribe sync terminate transfer trigger unlock
	unpublish update upload upsert wipe write`)

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// Classify is our own classification of a tool's effect, from its origin's
// standing, its annotations as sent (nil: none) and its name. Only a tool of an
// attested origin whose claims and name agree that it reads is Read; everything
// else is Unclassified, which counts as every effect (RULES.md 3). A claim never
// makes the answer smaller on its own, nor does a name.
func Classify(standing Standing, annotations jsontext.Value, name string) Effect {
	if standing != Attested || !claimsRead(annotations) || !namesRead(name) {
		return Unclassified
	}
	return Read
}

// claimsRead tells whether the annotations say readOnlyHint true and nothing
// that contradicts it. What is not strict JSON claims nothing.
func claimsRead(raw jsontext.Value) bool {
	if raw.Kind() != '{' {
		return false
	}
	var a struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return false
	}
	return a.ReadOnly != nil && *a.ReadOnly && (a.Destructive == nil || !*a.Destructive)
}

// namesRead tells whether a name begins with a verb of reading and has no other
// verb: search_docs, getUser, repo.list_files, but not get_and_delete.
func namesRead(name string) bool {
	found := false
	for _, w := range nameWords(name) {
		if otherVerbs[w] {
			return false
		}
		found = found || readVerbs[w]
	}
	return found
}

// nameWords takes a name apart at anything but letters and digits, and at humps.
func nameWords(name string) (words []string) {
	start := 0
	end := func(at int) {
		if at > start {
			words = append(words, strings.ToLower(name[start:at]))
		}
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			if i > start && (name[i-1] < 'A' || name[i-1] > 'Z') {
				end(i)
				start = i
			}
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 0x80:
		default:
			end(i)
			start = i + 1
		}
	}
	end(len(name))
	return words
}
