package warden

import (
	"encoding/binary"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/pratique-dev/pratique/quarantine"
)

func TestCacheIsBounded(t *testing.T) {
	c := newCache(100)
	b := one(harmless)
	for i := range 1000 {
		c.put(cacheKey{byte(i), byte(i >> 8)}, &quarantine.Report{})
		if _, ok := c.get(cacheKey{}, &b); !ok {
			t.Fatalf("what is in use went at %d", i)
		}
	}
	if n := len(c.new) + len(c.old); n > 100 {
		t.Errorf("%d verdicts", n)
	}
	none := newCache(-1)
	none.put(cacheKey{}, &quarantine.Report{})
	if _, ok := none.get(cacheKey{}, &b); ok {
		t.Error("kept in no cache")
	}
}

// TestCacheKeepsNothingOfTheTexts: verdicts with as many findings as there can be,
// under long paths, take no more than the bound, and come back whole.
func TestCacheKeepsNothingOfTheTexts(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	c := newCache(0)
	before := heap()
	for i := range uint64(4096) {
		long := strings.Repeat("x", 4<<10) + string(binary.AppendUvarint(nil, i)) // another one each time
		b := quarantine.Batch{Specimens: []quarantine.Specimen{{Path: "a", Text: "a"}, {Path: long, Text: long}}}
		r := quarantine.Report{Verdict: quarantine.Hostile}
		for n := range 512 {
			r.Findings = append(r.Findings, quarantine.Finding{Category: quarantine.Override, Verdict: quarantine.Suspect, Path: long, At: 1, Span: quarantine.Span{From: n, To: n + 1}})
		}
		r.Findings[7] = quarantine.Finding{Category: quarantine.Prose, Verdict: quarantine.Hostile}
		key := cacheKey(binary.BigEndian.AppendUint64(make([]byte, 24), i))
		c.put(key, &r)
		if got, ok := c.get(key, &b); !ok || !reflect.DeepEqual(got, r) {
			t.Fatalf("%v %+v", ok, got)
		}
	}
	if took := int64(heap() - before); took > maxKept*5/4 {
		t.Errorf("%d MiB are kept", took>>20)
	}
	r := quarantine.Report{Findings: make([]quarantine.Finding, 1+keptReport/sizeFound)}
	c.put(cacheKey{1}, &r)
	if _, ok := c.get(cacheKey{1}, &quarantine.Batch{}); ok {
		t.Error("a report that is too long is kept")
	}
	runtime.KeepAlive(c)
}

// TestAChildsWordsAreNotKept: a category is our own word, not the part of a frame.
func TestAChildsWordsAreNotKept(t *testing.T) {
	frame := strings.Repeat("x", 1000) + string(quarantine.Override)
	b := one(harmless)
	r, err := check(quarantine.Report{Verdict: quarantine.Suspect, Engine: "e", Findings: []quarantine.Finding{{Category: quarantine.Category(frame[1000:]), Verdict: quarantine.Suspect}}}, &b, "e")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Findings[0].Category); got != "override" || sameBytes(got, frame[1000:]) {
		t.Errorf("%q is a part of what the child sent", got)
	}
}

func sameBytes(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) }
