package shelf_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/shelf"
)

func Example() {
	s := shelf.Memory()
	unlock, err := s.Lock(context.Background(), "a")
	if err != nil {
		panic(err)
	}
	defer unlock()
	if err := s.Write("a", []byte("one")); err != nil {
		panic(err)
	}
	data, tag, err := s.Read("a", 100)
	fmt.Println(string(data), tag.Fresh(), err)
	// Output: one true <nil>
}

func both(t *testing.T, f func(t *testing.T, s shelf.Shelf)) {
	t.Run("disk", func(t *testing.T) {
		s, err := shelf.Open(filepath.Join(t.TempDir(), "s"))
		if err != nil {
			t.Fatal(err)
		}
		f(t, s)
	})
	t.Run("memory", func(t *testing.T) { f(t, shelf.Memory()) })
}

func TestShelf(t *testing.T) {
	both(t, func(t *testing.T, s shelf.Shelf) {
		data, none, err := s.Read("a", 10)
		if data != nil || err != nil || !none.Fresh() {
			t.Fatalf("nothing: %q %v", data, err)
		}
		if err := s.Write("a", []byte("12345")); err != nil {
			t.Fatal(err)
		}
		if none.Fresh() {
			t.Error("nothing is still fresh where there is a file")
		}
		data, tag, err := s.Read("a", 5)
		if string(data) != "12345" || err != nil {
			t.Fatalf("%q %v", data, err)
		}
		if err := s.Write("a", []byte("54321")); err != nil { // same size, perhaps the same date
			t.Fatal(err)
		}
		if tag.Fresh() {
			t.Error("a changed file is fresh")
		}
		if _, _, err := s.Read("a", 4); !errors.Is(err, durable.ErrTooLarge) {
			t.Errorf("over-size: %v", err)
		}
		unlock, err := s.Lock(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Lock(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("locked twice: %v", err)
		}
		unlock()
		if unlock, err = s.Lock(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		unlock()
		if names, err := s.List(); err != nil || fmt.Sprint(names) != "[a]" {
			t.Errorf("%v %v", names, err)
		}
	})
}

// TestSettled: a file with an old date is recognised by its stat alone.
func TestSettled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := shelf.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Write("a", []byte("1"))
	past := time.Now().Add(-time.Hour)
	os.Chtimes(filepath.Join(dir, "a"), past, past)
	_, tag, err := s.Read("a", 10)
	if err != nil || !tag.Fresh() {
		t.Fatalf("an old file is not fresh: %v", err)
	}
	s.Write("a", []byte("2"))
	os.Chtimes(filepath.Join(dir, "a"), past, past)
	if tag.Fresh() {
		t.Error("another file of the same size and date is taken for it")
	}
}
