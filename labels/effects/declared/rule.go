package declared

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

func agreed(t *Tool) Acts {
	h := hintsOf(t)
	words := wordsOf(t.Name)
	switch {
	case len(contradictions(t)) > 0:
		return 0
	case h.reads == yes && h.destroys != yes && namesRead(words) && !t.schemaWrites():
		if h.open == yes {
			return Reads | Egress
		}
		return Reads
	case h.reads == yes, namesRead(words):
		return 0 // they do not agree
	}
	return written(t, h, words)
}

// written is what a tool does that is no read: at least writing, where others may
// see it. That it destroys nothing is believed of what by claim, name and schema
// only adds.
func written(t *Tool, h hints, words []string) Acts {
	adding, known := false, false
	for i, w := range words {
		switch d := deeds[w]; {
		case d == runs, runVerbs[w]:
			return 0
		case d > reads:
			adding = addVerbs[w] && (adding || !known && i == 0)
			known = true
		}
	}
	d, _ := worst(t, true)
	switch {
	case !known || d == runs:
		return 0
	case adding && d <= adds && h.destroys == no:
		return Writes | Egress
	}
	return Writes | Egress | Destroys
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
