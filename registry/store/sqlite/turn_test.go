package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/store"
)

// An Append that waits for its turn must not keep out the one of its own
// process that has it: with a patience of an hour that would be for ever.
func TestTurnIsNotKeptOutByAppend(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir() + "/log"
	open := func() *Log {
		l, err := Open(ctx, dir, &Options{patience: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	a, b := open(), open()
	away, err := b.Turn(ctx) // another process has the turn
	if err != nil {
		t.Fatal(err)
	}
	empty := store.EmptyHead()
	note := func(text string) error {
		return a.Append(ctx, empty, empty, store.Batch{Notes: []store.Note{{Text: []byte(text)}}})
	}
	turned, wrote := make(chan error, 1), make(chan error, 1)
	go func() {
		release, err := a.Turn(ctx)
		if err == nil {
			err = note("one")
			release()
		}
		turned <- err
	}()
	for len(a.turns.free) > 0 { // until it waits
		time.Sleep(time.Millisecond)
	}
	go func() { wrote <- note("one") }()
	time.Sleep(20 * time.Millisecond) // it waits too, with or without the writer's lock
	away()
	for _, c := range []chan error{turned, wrote} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}
