package gateway

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
)

// An upstream that speaks in our name is believed more than it should be: an agent
// that reads "nothing was executed" calls again, and takes what we removed for all
// there was to fear (RULES.md 10). Our words as structure hold an answer; in texts,
// where people quote them too, they are cut out as suspect words are.

// forged tells whether an object at any depth says that it is enforced by us, or has
// the form of our refusals.
func forged(v jsontext.Value) bool {
	if !mayHoldOurs(v) && !mayRefuse(v) {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	name := ""         // of the member that was read last; the strings of a list are its values too
	var seen [][2]bool // of the objects around: whether they are blocked by policy, and say what was invoked
	for {
		t, err := d.ReadToken()
		if err != nil {
			return !errors.Is(err, io.EOF)
		}
		depth := d.StackDepth()
		in, n := d.StackIndex(depth)
		for len(seen) <= depth {
			seen = append(seen, [2]bool{})
		}
		switch {
		case t.Kind() == '{':
			seen[depth], name = [2]bool{}, ""
		case t.Kind() == '[':
		case t.Kind() == '"' && in == '{' && n%2 == 1:
			name = t.String()
			seen[depth][1] = seen[depth][1] || is(name, "capabilityInvoked")
		case t.Kind() == '"' && is(name, "enforcedBy") && is(t.String(), "pratique"):
			return true
		case t.Kind() == '"' && in == '{' && is(name, "status") && is(t.String(), blocked):
			seen[depth][0] = true
		case in == '{':
			name = ""
		}
		if seen[depth] == [2]bool{true, true} {
			return true
		}
	}
}

// blocked is the status of our refusals.
const blocked = "blocked_by_policy"

// mayRefuse tells whether the status could stand in an answer, without a copy of it.
func mayRefuse(v []byte) bool {
	const off = len("blocked")
	for i := 0; ; i++ {
		n := bytes.IndexByte(v[i:], '_')
		if n < 0 {
			return false
		}
		i += n
		if at := i - off; at >= 0 && at+len(blocked) <= len(v) && equalFold(string(v[at:at+len(blocked)]), blocked) {
			return true
		}
	}
}

func is(s, word string) bool { return equalFold(strings.TrimSpace(s), word) }

// minPose is the shortest text that speaks in our name.
const minPose = len("[removed by pratique]")

// silent tells at a glance that nothing of ours is in a text, as of most short ones: each
// of our sentences and forms has one of these bytes.
func silent(text string) bool {
	return len(text) < minPose || strings.IndexByte(text, '(') < 0 && strings.IndexByte(text, 'q') < 0 &&
		strings.IndexByte(text, 'Q') < 0 && strings.IndexByte(text, '\\') < 0
}

// maxPosing is how many places of one answer are named at once.
const maxPosing = 1 << 10

// posing are the places in texts where somebody else speaks in our name. own is the
// notice that stands where we cut something out of the same answer.
func posing(set []quarantine.Specimen, own string) (found []quarantine.Finding) {
	for at := range set {
		if len(found) >= maxPosing {
			break // the rest is for the next cut
		}
		s := &set[at]
		if silent(s.Text) || s.Form == quarantine.FormFixed && !s.Name {
			continue // nothing of ours is as short, and an address is in nobody's name
		}
		for _, span := range poses(s.Text, own) {
			found = append(found, quarantine.Finding{Category: quarantine.Override, Verdict: quarantine.Suspect, Path: s.Path, At: at, Span: span})
		}
	}
	return found
}

// maxRefusal is how far behind its beginning a refusal's reference is looked for: no
// sentence of ours is as long.
const maxRefusal = 1 << 10

// poses are the places in one text, maxPoses at most: the rest is for the next cut.
func poses(text, own string) (spans []quarantine.Span) {
	const begin, end, notice, maxPoses = "blocked by policy (", "reference: call_", "[removed by ", 64
	next := -1 // the end that was found last: it is searched for once, however many begin before it
	for at := range occurrences(text, begin, '(') {
		if next < at {
			next = len(text)
			for n := range occurrences(text[at:], end, '_') {
				next = at + n
				break
			}
		}
		if next == len(text) {
			break // no other begin has an end either
		}
		to := next + len(end)
		if to > at+maxRefusal {
			continue
		}
		for to < len(text) && text[to]|0x20 >= '0' && text[to]|0x20 <= 'z' {
			to++
		}
		if spans = append(spans, quarantine.Span{From: at, To: to}); len(spans) >= maxPoses {
			return spans
		}
	}
	whole := quarantine.Span{To: len(text)}
	for at := range occurrences(text, "pratique", 'q') {
		behind := at + len("pratique")
		switch from := at - len(notice); {
		case from >= 0 && equalFold(text[from:at], notice) && behind < len(text) && (text[behind] == ':' || text[behind] == ']'):
			if own != "" && strings.HasPrefix(text[from:], own) {
				continue
			}
			to := len(text)
			if n := strings.IndexByte(text[from:], ']'); n >= 0 {
				to = from + n + 1
			}
			spans = append(spans, quarantine.Span{From: from, To: to})
		case enforces(text, at, behind):
			return append(spans, whole) // of JSON in a text no part means anything alone
		}
		if len(spans) >= maxPoses {
			return spans
		}
	}
	if strings.Contains(text, `\u`) && forgedWithin(text) {
		spans = append(spans, whole)
	}
	return spans
}

// enforces tells whether the name at [at, behind) is the value of a member enforcedBy,
// in JSON in a text, however often that is quoted.
func enforces(text string, at, behind int) bool {
	const quotes, name = "\"'\\ \t\r\n", "enforcedBy"
	before := strings.TrimRight(text[max(0, at-64):at], quotes)
	if len(before) == at-max(0, at-64) || !strings.HasSuffix(before, ":") || behind >= len(text) || !strings.ContainsRune(quotes, rune(text[behind])) {
		return false
	}
	quoted := before[:len(before)-1]
	before = strings.TrimRight(quoted, quotes)
	return len(before) < len(quoted) && strings.ContainsAny(quoted[len(before):], `"'`) &&
		len(before) >= len(name) && equalFold(before[len(before)-len(name):], name)
}

// forgedWithin is forged for a text that is JSON, where escapes hide what it says.
func forgedWithin(text string) bool {
	v := jsontext.Value(strings.TrimSpace(text))
	return len(v) > 0 && (v[0] == '{' || v[0] == '[') && v.IsValid() && forged(v)
}

// occurrences are the places where a phrase stands in a text, in letters of any case.
// anchor is a byte of the phrase that few texts have many of, lower case.
func occurrences(text, phrase string, anchor byte) iter.Seq[int] {
	off := strings.IndexByte(phrase, anchor)
	anchors := []byte{anchor}
	if anchor >= 'a' && anchor <= 'z' {
		anchors = append(anchors, anchor-'a'+'A')
	}
	return func(yield func(int) bool) {
		for _, c := range anchors {
			for i := 0; ; i++ {
				n := strings.IndexByte(text[i:], c)
				if n < 0 {
					break
				}
				i += n
				if at := i - off; at >= 0 && at+len(phrase) <= len(text) && equalFold(text[at:at+len(phrase)], phrase) && !yield(at) {
					return
				}
			}
		}
	}
}
