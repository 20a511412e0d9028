package intent

import (
	"slices"
	"strings"
)

// Words before a name that say what it is for: what is done comes from the one and goes
// into the other. What is made is of something, what is changed is a part of it.
var (
	sources = strings.Fields("from about with using per like by than against via")
	targets = strings.Fields("to into onto as")
	makers  = strings.Fields("write save store put create make draft prepare add insert copy")
)

// A role is what the words of a task want of a file or folder.
type role uint8

const (
	untold  role = iota // only read
	read                // told so
	written             // changed, made or removed
)

// roles finds out which of the names in a task are written: those behind a verb that
// writes, but for what such a verb writes of. A clause without a verb goes on with what
// the one before it said. What the words do not tell is only read.
func (r *reading) roles(task string) {
	r.written = map[string]bool{}
	last := untold
	for _, clause := range clauseEnd.Split(task, -1) {
		last = r.rolesIn(strings.Fields(clause), last)
	}
}

// rolesIn reads one clause, and gives the role that goes on behind it.
func (r *reading) rolesIn(fields []string, now role) role {
	verb, object := "", "" // the name that stands behind the verb without a word between
	last := now
	for i, f := range fields {
		word := func(i int) string {
			if i < 0 || i >= len(fields) {
				return ""
			}
			return strings.ToLower(strings.Trim(fields[i], "\"'`()[]{}<>,;:!?."))
		}
		name := placeIn(f, word(i-1), word(i+1))
		if name == "" && kept[word(i)] != "" && r.has(kept[word(i)]) {
			name = kept[word(i)]
		}
		if name == "" {
			if ds := verbAt(word(i), word(i-1), i); ds != nil {
				verb, object, now = word(i), "", roleOf(ds)
				last = now
			}
			continue
		}
		last = now
		switch before := wordBefore(i, word); {
		case now == written && (slices.Contains(sources, before) || before == "of" && slices.Contains(makers, verb)):
			last = read
		case now == written && slices.Contains(targets, before) && object != "" && verb != "move" && verb != "rename":
			delete(r.written, object) // "translate a into b"
		case now == written && before == verb:
			object = name
		}
		if last == written {
			r.written[name] = true
		}
	}
	return last
}

// has tells whether a file was found that a word stands for.
func (r *reading) has(file string) bool { return slices.Contains(r.called, file) }

// placeIn is the file or folder that a word names; empty: none.
func placeIn(f, before, after string) string {
	r := &reading{}
	r.name(strings.TrimRight(strings.TrimLeft(f, "\"'`([{<"), "\"'`)]}>,;:!?."), before, after)
	switch {
	case len(r.files) > 0:
		return r.files[0]
	case len(r.folders) > 0:
		return r.folders[0]
	}
	return ""
}

// verbAt is what the word of a clause does, where it is a verb there.
func verbAt(w, before string, i int) []deed {
	if things[w] != "" && i > 0 || slices.Contains(determiners, before) || i > 0 && slices.Contains(vague, w) && !slices.Contains(leads, before) {
		return nil
	}
	return deeds[w]
}

func roleOf(ds []deed) role {
	if slices.ContainsFunc(ds, writes) {
		return written
	}
	return read
}

// writes tells whether a deed leaves a file other than it was.
func writes(d deed) bool {
	return d == change || d == create || d == remove || d == record || d == place
}

// wordBefore is the last word before a name that is no determiner and no word for what
// the name is.
func wordBefore(i int, word func(int) string) string {
	for i--; i >= 0; i-- {
		w := word(i)
		if (w == "of" || !slices.Contains(determiners, w)) && things[w] != "file" && things[w] != "folder" && w != "new" && w != "named" && w != "called" {
			return w
		}
	}
	return ""
}

// toWrite are those of some names that the task wants written.
func (r *reading) toWrite(names []string) (list []string) {
	for _, n := range names {
		if r.written[n] {
			list = append(list, n)
		}
	}
	return list
}

// onlyRead tells whether the task wants files changed, and its words tell of none of
// those that it names that it is the one.
func (r *reading) onlyRead() bool {
	return len(r.files)+len(r.folders)+len(r.called) > 0 && len(r.written) == 0 && slices.ContainsFunc(r.wants, func(w want) bool {
		return writes(w.deed) && w.deed != place && (w.thing == "file" || w.thing == "folder")
	})
}
