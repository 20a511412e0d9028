package decisions

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

var odd = []string{"plain", "", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<&>'", "\u2028\u2029", "é \U0001F600 \uFFFD", "tools/call", "\xff", "a\xc3"}

// fill sets a member to something by its kind.
func fill(t *testing.T, f reflect.Value, r *rand.Rand) {
	switch v := f.Addr().Interface().(type) {
	case **bool:
		b := r.IntN(2) == 0
		*v = &b
	case *credentials.Digest:
		for i := range v {
			v[i] = byte(r.Uint32())
		}
	case *labels.Effect:
		*v = labels.Effect(1 + r.IntN(int(labels.AllEffects)))
	case *labels.Assurance:
		*v = labels.Assurance(1 + r.IntN(int(labels.AssuranceTwoPerson)))
	case *[]string:
		*v = make([]string, r.IntN(3))
		for i := range *v {
			(*v)[i] = odd[r.IntN(len(odd))]
		}
	case **registry.EntryCounts:
		*v = &registry.EntryCounts{Run: r.Uint64(), Minute: r.Uint64(), Hour: r.Uint64(), Day: r.Uint64()}
		if r.IntN(2) == 0 {
			fill(t, reflect.ValueOf(&(*v).New).Elem(), r)
		}
	case *[]registry.EntryShadow:
		*v = make([]registry.EntryShadow, r.IntN(3))
		for i := range *v {
			(*v)[i] = registry.EntryShadow{Verb: odd[r.IntN(len(odd))], Reason: odd[r.IntN(len(odd))], Rule: odd[r.IntN(len(odd))]}
		}
	default:
		switch f.Kind() {
		case reflect.String:
			f.SetString(odd[r.IntN(len(odd))])
		case reflect.Int, reflect.Int64:
			f.SetInt(r.Int64() - 1<<62)
		case reflect.Uint64:
			f.SetUint(r.Uint64())
		default:
			t.Fatalf("a member of a kind that appendEntry does not know: %s", f.Type())
		}
	}
}

func compare(t *testing.T, e *registry.Entry) {
	t.Helper()
	var want bytes.Buffer
	wrong := json.MarshalWrite(&want, e, json.Deterministic(true))
	got, err := appendEntry(nil, e)
	if (err != nil) != (wrong != nil) {
		t.Fatalf("error %v, of json %v: %+v", err, wrong, e)
	}
	if err == nil && !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("got  %s\nwant %s", got, want.Bytes())
	}
}

// TestEncode: an entry's bytes are those of json, with each member alone and with
// any of them together.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := reflect.TypeFor[registry.Entry]().NumField()
	compare(t, &registry.Entry{})
	for i := range n {
		for range 30 {
			var e registry.Entry
			fill(t, reflect.ValueOf(&e).Elem().Field(i), r)
			compare(t, &e)
		}
	}
	for range 20_000 {
		var e registry.Entry
		for i := range n {
			if r.IntN(2) == 0 {
				fill(t, reflect.ValueOf(&e).Elem().Field(i), r)
			}
		}
		compare(t, &e)
	}
	compare(t, &registry.Entry{Effect: ^labels.Effect(0)})
}
