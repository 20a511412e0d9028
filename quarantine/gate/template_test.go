package gate_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// TestTemplatesThatCostMegabytes: a template of two kilobytes can be a pattern of
// hundreds of megabytes; a server lists thousands.
func TestTemplatesThatCostMegabytes(t *testing.T) {
	for _, op := range []string{"", "+", "&", "?", "#", "/", "."} {
		var b strings.Builder
		b.WriteString("a://x/")
		for n := 0; b.Len() < 1900 && n < 32; n++ {
			b.WriteString("{" + op + "a0:999")
			for i := range 14 {
				fmt.Fprintf(&b, ",%c:999", 'a'+i)
			}
			b.WriteString("}")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := gate.ParseTemplate(b.String())
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || mb > 8 {
			t.Errorf("%q: %v, %d MB", op, err, mb)
		}
	}
	for _, s := range []string{
		"file:///{+path}", "db://{table}/{id:36}", "x:{?a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p}", "x:{a}{/b*}{?c,d}{&e}{#f}", "x:{id:700}",
	} {
		if _, err := gate.ParseTemplate(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// TestManyTemplatesAreBounded: looking one URI up stays cheap however many
// templates begin like it.
func TestManyTemplatesAreBounded(t *testing.T) {
	in := gate.Input{Complete: true, Baseline: &gate.Baseline{Seen: true, Items: map[gate.Key]*gate.Accepted{}}}
	for i := range 3000 {
		it := gate.Decode(gate.Template, fmt.Appendf(nil, `{"name":"n","uriTemplate":"a://x/{a:600}%d"}`, i))
		if it.Fault != gate.NoFault {
			t.Fatal(it.Fault)
		}
		in.Items = append(in.Items, gate.Judged{Item: it, Verdict: quarantine.Clear})
		in.Baseline.Items[it.Key] = &gate.Accepted{Key: it.Key, Digest: it.Digest}
	}
	s := gate.Build(in)
	begun := time.Now()
	if e, err := s.Readable("a://x/" + strings.Repeat("a", 2000)); err == nil || e.State == policy.Cleared {
		t.Errorf("opened: %v", e.State)
	}
	if d := time.Since(begun); d > 2*time.Second {
		t.Errorf("one look-up took %v", d)
	}
}
