package inspect

import (
	"slices"

	"github.com/pratique-dev/pratique/labels/effects/declared"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/model"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// A judge looks at one batch. It is reused, but for the findings, which it gives
// away.
type judge struct {
	set      []quarantine.Specimen
	model    *model.Model // nil: not asked
	verdict  quarantine.Verdict
	findings []quarantine.Finding
	more     bool                 // findings than the report has room for
	worst    []quarantine.Verdict // by specimen; the zero value: nothing found

	// the specimen that is looked at
	at       int
	s        *quarantine.Specimen
	place    place
	returned bool
	binary   bool // it is of bytes that are no text
	quoting  quoting
	joint    bool // it is pieces of others, read as one
	apart    bool // it is not read together with its neighbours: a type between two texts
	whole    bool // the view of all of it is yet to come
	words    int  // of that
	hits     []hit
	parts    []model.Hit

	v       *unfold.View
	headed  bool // its beginning was read together with the specimen before
	reader  reader
	tail    seam            // the end of the specimen before
	item    item            // the item that the specimens are of
	tools   []declared.Tool // items that wait for what their server is for
	origin  declared.Origin // what it says
	waiting int             // leaves of the tools
	tell    bool            // reasons are wanted
	reasons []reason
	spots   []spot // hits that are weighed at the end
	passed  int32  // words of the specimens before
	ids     map[string]bool
	names   map[string]string // of tools, by their shape
	emit    func(*unfold.View)
}

func newJudge() *judge {
	j := &judge{}
	j.emit = j.view
	j.reader.tokens = make([]token, 0, room)
	j.reader.flush = j.makeRoom
	return j
}

func (j *judge) begin(set []quarantine.Specimen) {
	j.set, j.model, j.verdict, j.findings, j.ids, j.names = set, nil, quarantine.Clear, nil, nil, nil
	if cap(j.worst) < len(set) {
		j.worst = make([]quarantine.Verdict, len(set))
	}
	j.worst = j.worst[:len(set)]
	clear(j.worst)
	j.spots, j.passed, j.more = j.spots[:0], 0, false
	j.tail.forget()
	j.item, j.tools, j.origin, j.waiting, j.tell, j.reasons = item{}, j.tools[:0], declared.Origin{}, 0, false, nil
	j.references()
}

// release gives the judge back without the texts it saw.
func (j *judge) release() {
	const most = 1 << 16 // tokens and hits that are worth keeping the memory for
	if cap(j.hits) > most || cap(j.spots) > most || cap(j.worst) > most {
		return
	}
	j.set, j.s, j.model, j.findings, j.ids, j.names, j.item, j.tools, j.origin = nil, nil, nil, nil, nil, nil, item{}, nil, declared.Origin{}
	j.reader.text, j.v = "", nil
	judges.Put(j)
}

// find adds a finding in bytes [from, to) of the specimen.
func (j *judge) find(c quarantine.Category, v quarantine.Verdict, from, to int) {
	j.findAt(j.at, c, v, from, to)
}

func (j *judge) findAt(at int, c quarantine.Category, v quarantine.Verdict, from, to int) {
	j.verdict = quarantine.Worse(j.verdict, v)
	j.worst[at] = quarantine.Worse(j.worst[at], v)
	for i := len(j.findings) - 1; i >= 0 && i >= len(j.findings)-4; i-- { // rules and views often say the same of the same words
		f := &j.findings[i]
		if f.At == at && f.Category == c && f.Verdict == v && f.Span.From <= to && from <= f.Span.To {
			f.Span.From, f.Span.To = min(f.Span.From, from), max(f.Span.To, to)
			return
		}
	}
	if j.more = j.more || len(j.findings) == MaxFindings; !j.more {
		j.findings = append(j.findings, quarantine.Finding{Category: c, Verdict: v, Path: j.set[at].Path, At: at, Span: quarantine.Span{From: from, To: to}})
	}
}

// specimen looks at one specimen.
func (j *judge) specimen(at int) {
	s := &j.set[at]
	if s.Text == "" {
		return
	}
	j.at, j.s, j.returned, j.whole = at, s, s.Kind.Returned(), true
	j.place = placeOf(s)
	j.hits, j.quoting = j.hits[:0], unasked
	j.turn(s)
	j.binary = s.Binary()
	j.apart = j.binary || j.returned && s.Form == quarantine.FormFixed
	signs := unfold.Unfold(s.Text, unfold.Options{Returned: j.returned, Name: s.Kind == quarantine.KindName}, j.emit)
	if !j.binary {
		for _, g := range signs {
			j.sign(g)
		}
	}
	j.layout()
	j.settle()
}

// view reads one view of the specimen: the whole text first.
func (j *judge) view(v *unfold.View) {
	j.v = v
	j.headed = !j.whole || j.apart // what begins a view inside is no end of an order
	r := &j.reader
	r.read(v.Text, j.s.Name || j.s.Kind == quarantine.KindName)
	j.drain(len(r.tokens))
	if j.whole {
		j.whole, j.words = false, int(r.pos)
		if !j.apart {
			j.tailed(v)
		}
		j.structure(v)
	}
	if !j.binary { // there only the plainest of orders are looked for
		j.foreign(v)
		j.links(v)
		j.learned(v)
	}
}

// makeRoom matches what is read of a long view, but for the last tokens, which a
// rule may go on from.
func (j *judge) makeRoom() {
	r := &j.reader
	n := len(r.tokens) - ahead
	j.drain(n)
	r.tokens = r.tokens[:copy(r.tokens, r.tokens[n:])]
}

// drain matches the rules that begin in the first n tokens.
func (j *judge) drain(n int) {
	if !j.headed {
		j.headed = true
		j.across(j.v)
	}
	from := len(j.hits)
	j.hits = matchFrom(j.reader.tokens, n, j.hits)
	if j.binary {
		j.hits = slices.DeleteFunc(j.hits, func(h hit) bool { return rules[h.rule].level < strong })
	}
	for i := from; i < len(j.hits); i++ {
		h := &j.hits[i]
		a, b := j.v.Origin(int(h.from), int(h.to))
		h.from, h.to, h.deep = int32(a), int32(b), j.v.Depth > 0
	}
}

// learned asks the model about a view.
func (j *judge) learned(v *unfold.View) {
	if j.model == nil {
		return
	}
	j.parts = j.model.Suspects(model.PlaceOf(j.s.Kind), v.Text, j.parts[:0])
	for _, p := range j.parts {
		from, to := v.Origin(p.From, p.To)
		j.find(quarantine.Learned, quarantine.Suspect, from, to)
	}
}

// finish weighs what only the whole batch shows.
func (j *judge) finish() {
	j.endItem()
	j.endItems()
	j.weigh()
	j.parted()
	inOrder(j.findings)
}
