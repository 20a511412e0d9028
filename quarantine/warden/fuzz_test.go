package warden

import (
	"bytes"
	"io"
	"testing"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/wire"
)

// FuzzAnswer: whatever a child answers, what comes out of check can be indexed,
// says only words of ours, and is no better than its findings.
func FuzzAnswer(f *testing.F) {
	w, err := New(Options{Mode: Off})
	if err != nil {
		f.Fatal(err)
	}
	b := one(hostile)
	good, _ := wire.AppendReport(nil, 1, w.Inspect(bg, b))
	f.Add(good[5:])
	bad, _ := wire.AppendReport(nil, 1, failed(&b, quarantine.Late))
	f.Add(bad[5:])
	none, _ := wire.AppendReport(nil, 1, quarantine.Report{Verdict: quarantine.Clear, Partial: true, Findings: []quarantine.Finding{{Category: quarantine.Late}}})
	f.Add(none[5:])
	f.Fuzz(func(t *testing.T, body []byte) {
		_, r, err := wire.ParseReport(string(body))
		if err != nil {
			return
		}
		if r, err = check(r, &b, w.Engine()); err != nil {
			return
		}
		worst := quarantine.Clear
		for _, f := range r.Findings {
			_ = b.Specimens[f.At].Text[f.Span.From:f.Span.To]
			if categories[f.Category] == "" || f.Path != "" && f.Path != b.Specimens[f.At].Path {
				t.Fatalf("%+v", f)
			}
			worst = quarantine.Worse(worst, f.Verdict)
		}
		if quarantine.Worse(worst, r.Verdict) != r.Verdict || r.Verdict == quarantine.Missing || r.Partial && r.Verdict == quarantine.Clear {
			t.Fatalf("%+v", r)
		}
	})
}

// FuzzChildInput: a child that reads anything ends in order, and whatever it says
// is a frame.
func FuzzChildInput(f *testing.F) {
	b := one(hostile)
	good, _ := wire.AppendOrder(nil, wire.Order{Number: 1, Batch: b})
	f.Add(good)
	f.Add(append(good, good...))
	reply, _ := wire.Bytes(nil, wire.KindReply, []byte{answered})
	f.Add(append(good, reply...))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		c := &inmate{out: &out, orders: make(chan wire.Order, 1), replies: make(chan string, 1)}
		c.engines = newEngines(c.ask, opinion.Config{}, false)
		done := make(chan int)
		go func() { c.work(); close(done) }()
		code := c.listen(bytes.NewReader(in))
		close(c.orders)
		<-done
		if code != exitEnd && code != exitFrame {
			t.Fatalf("exit code %d", code)
		}
		for {
			_, body, err := wire.Read(&out, wire.KindReport)
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := wire.ParseReport(body); err != nil {
				t.Fatal(err)
			}
		}
	})
}
