package decisions

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
)

// FuzzEntry: what is read of an entry is what is written of it again.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"v":1,"type":"call.decided","at":1,"run":"r","n":1,"call":"call_1","effect":"read","enforced":false}`))
	f.Add([]byte(`{"v":1,"type":"call.finished","at":2,"run":"r","n":2,"last":1,"call":"call_1","outcome":"returned","ms":3}`))
	f.Add([]byte(`{"v":1,"v":1,"type":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parse(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(&e, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		x, err := parse(again)
		if err != nil || !reflect.DeepEqual(x, e) {
			t.Fatalf("%s becomes %s: %v", b, again, err)
		}
	})
}
