package envelope

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

type row struct{ gen int }

// view is a registry's state of now: what may change while a token is good.
type view struct {
	gen  int
	asks int
}

var errStale = errors.New("generation is stale")

func (v *view) Live(c *row) error {
	v.asks++
	if c.gen != v.gen {
		return errStale
	}
	return nil
}

func TestCacheAsksTheStateOnEveryHit(t *testing.T) {
	epoch, opened := uint64(1), 0
	exp := time.Unix(1000, 0)
	c := NewCache(func(string) (*row, time.Time, error) {
		opened++
		return &row{gen: 3}, exp, nil
	}, func() uint64 { return epoch }, 100)
	v := &view{gen: 3}
	for i := range 3 {
		if _, err := c.Open("tok", time.Unix(10, 0), v); err != nil || opened != 1 || v.asks != i+1 {
			t.Fatalf("open %d: err %v, opened %d times, asked %d times", i, err, opened, v.asks)
		}
	}
	v.gen = 4 // ownership moved: the very next hit is refused
	if _, err := c.Open("tok", time.Unix(10, 0), v); !errors.Is(err, errStale) {
		t.Fatalf("stale generation on a hit: %v", err)
	}
	v.gen = 3
	epoch++ // a key changed its state: verified anew
	if _, err := c.Open("tok", time.Unix(10, 0), v); err != nil || opened != 2 {
		t.Fatalf("after an epoch: err %v, opened %d times", err, opened)
	}
	if _, err := c.Open("tok", exp, v); err != nil || opened != 3 {
		t.Fatalf("at its end a token is opened anew: err %v, opened %d times", err, opened)
	}
	if _, err := c.Open("tok", time.Unix(10, 0), nil); !errors.Is(err, ErrNotLive) {
		t.Fatalf("without a state: %v", err)
	}
}

func TestCacheEpochIsReadBeforeVerifying(t *testing.T) {
	epoch := uint64(1)
	opened := 0
	c := NewCache(func(string) (*row, time.Time, error) {
		if opened++; opened == 1 {
			epoch++ // the key is revoked while its token is being verified
		}
		return &row{}, time.Unix(1000, 0), nil
	}, func() uint64 { return epoch }, 100)
	for range 2 {
		if _, err := c.Open("tok", time.Unix(1, 0), &view{}); err != nil {
			t.Fatal(err)
		}
	}
	if opened != 2 {
		t.Fatalf("a verification that began before the change was kept: opened %d times", opened)
	}
}

func TestCacheKeepsNoRefusalAndIsBounded(t *testing.T) {
	refuse := true
	c := NewCache(func(string) (*row, time.Time, error) {
		if refuse {
			return nil, time.Time{}, ErrSignature
		}
		return &row{}, time.Unix(1000, 0), nil
	}, func() uint64 { return 0 }, 640)
	now := time.Unix(1, 0)
	if _, err := c.Open("a", now, &view{}); !errors.Is(err, ErrSignature) || c.Len() != 0 {
		t.Fatalf("refused token: %v, %d kept", err, c.Len())
	}
	refuse = false
	for i := range 5000 {
		if _, err := c.Open(fmt.Sprint(i), now, &view{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.Len(); n > 640 || n < 500 {
		t.Fatalf("cache of 640 holds %d", n)
	}
	for _, tok := range []string{"", strings.Repeat("x", MaxToken+1)} {
		if _, err := c.Open(tok, now, &view{}); !errors.Is(err, ErrTokenSize) {
			t.Fatalf("token of %d bytes: %v", len(tok), err)
		}
	}
}

func TestCacheConcurrently(t *testing.T) {
	c := NewCache(func(tok string) (*row, time.Time, error) {
		return &row{gen: len(tok)}, time.Unix(1000, 0), nil
	}, func() uint64 { return 0 }, 64)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				tok := strings.Repeat("x", 1+(i*7+g)%300)
				if got, err := c.Open(tok, time.Unix(1, 0), &view{gen: len(tok)}); err != nil || got.gen != len(tok) {
					t.Errorf("token of %d: %v, %v", len(tok), got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestCacheHitAllocatesNothing(t *testing.T) {
	c, tok, v := hitFixture()
	now := time.Unix(1, 0)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := c.Open(tok, now, v); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func hitFixture() (*Cache[row], string, *view) {
	c := NewCache(func(string) (*row, time.Time, error) {
		return &row{}, time.Unix(1000, 0), nil
	}, func() uint64 { return 0 }, 0)
	return c, strings.Repeat("x", 700), &view{}
}

func BenchmarkCacheHit(b *testing.B) {
	c, tok, v := hitFixture()
	now := time.Unix(1, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Open(tok, now, v); err != nil {
			b.Fatal(err)
		}
	}
}
