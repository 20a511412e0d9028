package wire

import (
	"encoding/binary"

	"github.com/pratique-dev/pratique/quarantine"
)

// Version is that of this protocol; both sides are one binary, and only where a
// system cannot start the running one again can they differ.
const Version = 1

// A Hello is the first word of a child, when nothing can be opened any more.
type Hello struct {
	Landlock int
	Seccomp  bool
	Limits   bool
	Engine   string // of a full inspection without a language model
}

// AppendHello makes the frame.
func AppendHello(dst []byte, h Hello) ([]byte, error) {
	dst = begin(dst, KindHello)
	dst = append(dst, Version, byte(h.Landlock), flags(h.Seccomp, h.Limits))
	return end(appendText(dst, h.Engine), KindHello)
}

// ParseHello reads the body.
func ParseHello(body string) (h Hello, err error) {
	r := &reader{rest: body}
	version, landlock, f := r.size(Version), r.size(127), r.size(3)
	h = Hello{Landlock: landlock, Seccomp: f&1 != 0, Limits: f&2 != 0, Engine: r.text()}
	if version != Version {
		r.fail()
	}
	return h, r.done()
}

// MaxSpecimens bounds the specimens of a batch.
const MaxSpecimens = 1 << 20

// An Order is what a child is to do: judge a batch, and whether the language model
// may be asked about it. Its number comes back in the report.
type Order struct {
	Number  uint32
	Opinion bool
	Batch   quarantine.Batch
}

// least is the fewest bytes of a specimen.
const least = 9

// Size is about how many bytes the body of an order takes: never less than it does.
func Size(b quarantine.Batch) int {
	const numbers = 8 * binary.MaxVarintLen64
	n := numbers + len(b.Origin)
	for i := range b.Specimens {
		s := &b.Specimens[i]
		n += numbers + len(s.Path) + len(s.Kind) + len(s.Text)
	}
	return n
}

// Fits tells whether a batch can be sent.
func Fits(b quarantine.Batch) bool { return len(b.Specimens) <= MaxSpecimens && Size(b) <= MaxBatch }

// AppendOrder makes the frame of a batch.
func AppendOrder(dst []byte, o Order) ([]byte, error) {
	if o.Batch.Depth > quarantine.Deterministic {
		return nil, ErrFrame
	}
	dst = begin(dst, KindBatch)
	dst = binary.AppendUvarint(dst, uint64(o.Number))
	dst = append(dst, flags(o.Opinion, false), byte(o.Batch.Depth))
	dst = appendText(dst, o.Batch.Origin)
	dst = binary.AppendUvarint(dst, uint64(len(o.Batch.Specimens)))
	for i := range o.Batch.Specimens {
		s := &o.Batch.Specimens[i]
		if bad(s.Token) || bad(s.Within) || s.Form > quarantine.FormFixed {
			return nil, ErrFrame
		}
		dst = append(dst, flags(s.Inner, s.Name), byte(s.Form))
		dst = appendText(dst, string(s.Kind))
		dst = appendText(dst, s.Path)
		dst = appendText(dst, s.Text)
		for _, p := range []quarantine.Span{s.Token, s.Within} {
			dst = binary.AppendUvarint(dst, uint64(p.From))
			dst = binary.AppendUvarint(dst, uint64(p.To-p.From))
		}
	}
	return end(dst, KindBatch)
}

func bad(s quarantine.Span) bool { return s.From < 0 || s.To < s.From }

// ParseOrder reads the body. The texts are parts of it.
func ParseOrder(body string) (o Order, err error) {
	r := &reader{rest: body}
	o.Number = uint32(r.size(1<<32 - 1))
	o.Opinion = r.size(1) != 0
	o.Batch.Depth = quarantine.Depth(r.size(int(quarantine.Deterministic)))
	o.Batch.Origin = r.text()
	n := r.size(min(MaxSpecimens, len(r.rest)/least))
	if n > 0 {
		o.Batch.Specimens = make([]quarantine.Specimen, n)
	}
	for i := range o.Batch.Specimens {
		s := &o.Batch.Specimens[i]
		f := r.size(3)
		s.Inner, s.Name, s.Form = f&1 != 0, f&2 != 0, quarantine.Form(r.size(int(quarantine.FormFixed)))
		s.Kind, s.Path, s.Text = quarantine.Kind(r.text()), r.text(), r.text()
		s.Token, s.Within = r.span(), r.span()
		if r.bad {
			break
		}
	}
	return o, r.done()
}

// MaxFindings bounds the findings of a report on the wire.
const MaxFindings = 512

// Named stands for the path of a finding that is about a specimen: the parent knows
// it by its place. The path of one that is about the whole batch is empty.
const Named = "."

// AppendReport makes the frame. A report of more findings than MaxFindings is
// partial: the verdict counts them all, but they are not all named.
func AppendReport(dst []byte, number uint32, r quarantine.Report) ([]byte, error) {
	dst = begin(dst, KindReport)
	dst = binary.AppendUvarint(dst, uint64(number))
	dst = append(dst, byte(r.Verdict), flags(r.Partial || len(r.Findings) > MaxFindings, false))
	dst = appendText(dst, r.Engine)
	found := r.Findings[:min(len(r.Findings), MaxFindings)]
	dst = binary.AppendUvarint(dst, uint64(len(found)))
	for _, f := range found {
		if f.At < 0 || bad(f.Span) {
			return nil, ErrFrame
		}
		dst = append(appendText(dst, string(f.Category)), byte(f.Verdict), flags(f.Path != "", false))
		for _, n := range []int{f.At, f.Span.From, f.Span.To} {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return end(dst, KindReport)
}

// ParseReport reads the body. What it says of the batch is not checked here.
func ParseReport(body string) (number uint32, out quarantine.Report, err error) {
	r := &reader{rest: body}
	number = uint32(r.size(1<<32 - 1))
	out.Verdict = quarantine.Verdict(r.size(int(quarantine.Hostile)))
	out.Partial = r.size(1) != 0
	out.Engine = r.text()
	for range r.size(MaxFindings) {
		f := quarantine.Finding{Category: quarantine.Category(r.text())}
		f.Verdict = quarantine.Verdict(r.size(int(quarantine.Hostile)))
		if r.size(1) != 0 {
			f.Path = Named
		}
		f.At, f.Span.From, f.Span.To = r.size(MaxSpecimens), r.size(MaxBatch), r.size(MaxBatch)
		if r.bad {
			break
		}
		out.Findings = append(out.Findings, f)
	}
	return number, out, r.done()
}

func flags(a, b bool) (f byte) {
	if a {
		f = 1
	}
	if b {
		f |= 2
	}
	return f
}
