package effects

import "github.com/pratique-dev/pratique/labels"

// readVerbs begin the names of tools that look and do not touch. A verb that
// may also run what it is given (query, fetch, open, check) is none of them.
var readVerbs = wordSet("get list read search find show describe count lookup view")

// otherVerbs in a name, wherever they stand, speak against a read.
var otherVerbs = singulars(`accept add append apply approve archive assign book buy call cancel change clear clone close comment
	commit configure copy create deactivate delete deploy destroy disable download drop edit enable exec execute export fork
	forward grant import insert install invite invoke kill lock mark merge modify move notify open order overwrite pay play post
	publish purge push put query reboot rebase register reject remove rename replace reply reset resolve restart restore retry
	revert revoke run save schedule send set share sign start stop submit subscribe sync terminate transfer trigger unlock
	unpublish update upload upsert wipe write`)

// addVerbs begin the names of tools that only put something beside what is there.
var addVerbs = wordSet("create add insert append comment register upload post new attach")

func singulars(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range wordsOf(list) {
		m[w] = true
	}
	return m
}

// rule is our own classification where nobody said anything.
func rule(s labels.Standing, t *Tool) labels.Effect {
	if s != labels.Attested {
		return labels.Unclassified
	}
	h := hintsOf(t)
	words := wordsOf(t.Name)
	switch {
	case len(contradictions(t)) > 0:
		return labels.Unclassified
	case h.reads == yes && h.destroys != yes && namesRead(words) && !t.schemaWrites():
		e := labels.Read
		if h.open == yes {
			e |= labels.Egress
		}
		return e
	case h.reads == yes, namesRead(words):
		return labels.Unclassified // they do not agree
	}
	return written(t, h, words)
}

// written is what a tool of an attested origin does that is no read: at least
// writing, where it may be seen by others. That it destroys nothing is believed of
// what by claim, name and schema only adds.
func written(t *Tool, h hints, words []string) labels.Effect {
	adding, known := false, false
	for i, w := range words {
		switch d := deeds[w]; {
		case d == runs, runVerbs[w]:
			return labels.Unclassified
		case d > reads:
			known = true
			adding = adding && addVerbs[w] || i == 0 && addVerbs[w]
		}
	}
	d, _ := worst(t, true)
	switch {
	case !known || d == runs:
		return labels.Unclassified
	case adding && d <= adds && h.destroys == no:
		return labels.Write | labels.Egress
	}
	return labels.Write | labels.Egress | labels.Destructive
}

// runVerbs may run what they are given.
var runVerbs = wordSet("trigger query fetch open call command script shell eval code hook plugin job pipeline workflow function")

// An answer is a claim, which may be absent.
type answer uint8

const (
	silent answer = iota
	no
	yes
)

type hints struct{ reads, destroys, open answer }

func hintsOf(t *Tool) (h hints) {
	for _, x := range t.Hints {
		a := no
		if x.Value {
			a = yes
		}
		switch x.Name {
		case "readOnlyHint":
			h.reads = a
		case "destructiveHint":
			h.destroys = a
		case "openWorldHint":
			h.open = a
		}
	}
	return h
}

// namesRead tells whether a name begins with a verb of reading and has no other
// verb: search_docs, getUser, repo.list_files, but not get_and_delete.
func namesRead(words []string) bool {
	found := false
	for _, w := range words {
		if otherVerbs[w] {
			return false
		}
		found = found || readVerbs[w]
	}
	return found
}
