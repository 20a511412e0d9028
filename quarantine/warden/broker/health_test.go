package broker

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
)

// asks asks about words of an origin.
func asks(ctx context.Context, b *Broker, from string) error {
	bt := batch(words)
	bt.Origin = from
	_, err := b.Ask(ctx, bt, whole)
	return err
}

// steady is a broker without random probes, whose clock stands.
func steady(t *testing.T, f *fake, logged *logBuffer) (*Broker, *clock) {
	c := &clock{t: time.Unix(1e9, 0)}
	return newBroker(t, Config{URL: f.URL, Name: "judge"}, &Options{Random: never{}, Now: c.now, Log: slog.New(slog.NewTextHandler(logged, nil))}), c
}

// TestOneOriginDoesNotSwitchTheModelOff: texts that the model fails on are written
// by somebody; others go on, once it has answered two probes.
func TestOneOriginDoesNotSwitchTheModelOff(t *testing.T) {
	for name, fault := range map[string]func(http.ResponseWriter, *request){"refused": status(400), "broken": status(503)} {
		t.Run(name, func(t *testing.T) {
			evil := true
			f := newFake(t, func(w http.ResponseWriter, r *request) {
				if evil {
					fault(w, r)
					return
				}
				benign(w, r)
			})
			var logged logBuffer
			b, c := steady(t, f, &logged)
			for range patience {
				if err := asks(t.Context(), b, "stdio:evil"); !errors.Is(err, ErrStatus) {
					t.Fatal(err)
				}
			}
			n, p := f.counts()
			if err := asks(t.Context(), b, "stdio:evil"); !errors.Is(err, ErrPaused) {
				t.Errorf("the origin that fails: %v", err)
			}
			if n2, p2 := f.counts(); n2 != n || p2 != p {
				t.Error("the model was asked for an origin that is left alone")
			}
			evil = false
			for i, probes := range []int{2, 0, 0} {
				_, before := f.counts()
				if err := asks(t.Context(), b, home); err != nil {
					t.Errorf("another origin: %v", err)
				}
				if _, after := f.counts(); after-before != probes {
					t.Errorf("request %d came with %d probes", i, after-before)
				}
			}
			if r := judged(b, words); r.Verdict != quarantine.Clear || !b.Health().OK {
				t.Errorf("%+v %+v", r, b.Health())
			}
			if s := logged.String(); !strings.Contains(s, "stdio:evil") || strings.Contains(s, "probe either") {
				t.Errorf("log: %s", s)
			}
			c.add(pause)
			evil = true // once is enough now
			if err := asks(t.Context(), b, "stdio:evil"); !errors.Is(err, ErrStatus) {
				t.Error(err)
			}
			if err := asks(t.Context(), b, "stdio:evil"); !errors.Is(err, ErrPaused) {
				t.Error(err)
			}
			c.add(pause)
			evil = false
			for range patience {
				if err := asks(t.Context(), b, "stdio:evil"); err != nil {
					t.Errorf("after the pause: %v", err)
				}
			}
		})
	}
}

// TestADownModelIsLeftAlone: what fails on probes too fails on everything.
func TestADownModelIsLeftAlone(t *testing.T) {
	f := newFake(t, benign)
	var logged logBuffer
	b, c := steady(t, f, &logged)
	if err := asks(t.Context(), b, home); err != nil {
		t.Fatal(err)
	}
	f.other, f.probe = status(503), status(503)
	for _, from := range []string{home, "stdio:a", "stdio:b"} {
		if err := asks(t.Context(), b, from); !errors.Is(err, ErrStatus) {
			t.Fatal(err)
		}
	}
	_, p := f.counts()
	if err := asks(t.Context(), b, home); !errors.Is(err, ErrStatus) { // by one probe
		t.Error(err)
	}
	n, p2 := f.counts()
	if p2 != p+1 {
		t.Errorf("%d probes", p2-p)
	}
	for _, from := range []string{home, "stdio:a", "stdio:c"} {
		if err := asks(t.Context(), b, from); !errors.Is(err, ErrDown) {
			t.Errorf("%v", err)
		}
	}
	if n2, p3 := f.counts(); n2 != n || p3 != p2 {
		t.Error("it was asked while it was left alone")
	}
	if h := b.Health(); h.OK || h.Failed != patience+1 || h.Last != ErrStatus.Error() || h.Asked != 3 {
		t.Errorf("%+v", h)
	}
	if strings.Count(logged.String(), "does not answer") != 2 {
		t.Errorf("log: %s", logged.String())
	}
	c.add(pause)
	f.other, f.probe = benign, nil
	if err := asks(t.Context(), b, home); err != nil || !b.Health().OK {
		t.Errorf("after the pause: %v", err)
	}
	if _, p4 := f.counts(); p4 != p2+2 {
		t.Errorf("%d probes after the pause", p4-p2)
	}
}

// TestOneOriginDoesNotHoldAllSlots: texts that the model takes long over.
func TestOneOriginDoesNotHoldAllSlots(t *testing.T) {
	release := make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *request) {
		if strings.Contains(string(r.raw), "xyzzy") {
			<-release
		}
		benign(w, r)
	})
	b := newBroker(t, Config{URL: f.URL, Name: "judge", Parallel: 2}, &Options{Random: never{}})
	if err := b.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 5 {
		go func() {
			bt := batch("xyzzy" + words[5:])
			bt.Origin = "stdio:evil"
			_, err := b.Ask(context.Background(), bt, whole)
			done <- err
		}()
	}
	for n := 0; n == 0; n, _ = f.counts() {
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := asks(ctx, b, home); err != nil {
			t.Error(err)
		}
		cancel()
	}
	close(release)
	for range 5 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
