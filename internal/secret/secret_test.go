package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/pratique-dev/pratique/internal/secret"
)

func Example() {
	key := secret.FromString("hunter2")
	fmt.Println(key, key.Equal([]byte("hunter2")))
	// Output: [secret] true
}

const plain = "hunter2-hunter2"

// forms are the ways in which plain could show.
func leaks(s string) bool {
	for _, f := range []string{
		plain, "hunter2", fmt.Sprint([]byte(plain)), fmt.Sprintf("%x", plain), fmt.Sprintf("%X", plain),
		fmt.Sprintf("%#v", []byte(plain)), "aHVudGVy", fmt.Sprintf("% x", plain),
	} {
		if strings.Contains(s, f) {
			return true
		}
	}
	return false
}

type holder struct {
	Open   secret.Value
	hidden secret.Value
	ptr    *secret.Value
	any    any
	list   []secret.Value
	m      map[string]secret.Value
}

func TestNeverPrints(t *testing.T) {
	v := secret.FromString(plain)
	h := holder{v, v, &v, v, []secret.Value{v}, map[string]secret.Value{"k": v}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%T", "%c", "% x", "%w"} {
		for _, x := range []any{v, &v, h, &h, []secret.Value{v}, []any{v, h}} {
			if s := fmt.Sprintf(verb, x); leaks(s) {
				t.Errorf("%s of %T prints %s", verb, x, s)
			}
		}
	}
	if s := fmt.Sprint(v) + v.String() + v.GoString() + fmt.Errorf("e: %v", v).Error(); leaks(s) || !strings.Contains(s, secret.Hidden) {
		t.Errorf("prints %s", s)
	}
}

func TestNeverLogsNorMarshals(t *testing.T) {
	v := secret.FromString(plain)
	h := holder{Open: v, hidden: v}
	var out bytes.Buffer
	for _, l := range []*slog.Logger{slog.New(slog.NewJSONHandler(&out, nil)), slog.New(slog.NewTextHandler(&out, nil))} {
		l.Info("x", "v", v, "p", &v, "h", h, "g", slog.GroupValue(slog.Any("v", v)))
	}
	if leaks(out.String()) {
		t.Errorf("log shows it: %s", &out)
	}
	if _, err := json.Marshal(h); !errors.Is(err, secret.ErrMarshal) {
		t.Errorf("json: %v", err)
	}
	if _, err := jsonv2.Marshal(h); !errors.Is(err, secret.ErrMarshal) {
		t.Errorf("json v2: %v", err)
	}
	if _, err := xml.Marshal(v); !errors.Is(err, secret.ErrMarshal) {
		t.Errorf("xml: %v", err)
	}
	if err := gob.NewEncoder(&out).Encode(v); err == nil || leaks(out.String()) {
		t.Errorf("gob: %v", err)
	}
}

func TestNotComparable(t *testing.T) {
	if reflect.TypeFor[secret.Value]().Comparable() {
		t.Error("== compiles on secrets")
	}
}

func TestEqualAndWipe(t *testing.T) {
	raw := []byte(plain)
	v := secret.New(raw)
	w := v
	if !v.Equal([]byte(plain)) || v.Equal([]byte("x")) || v.Equal(nil) || v.IsZero() {
		t.Error("Equal is wrong")
	}
	w.Wipe()
	if !v.IsZero() || v.Reveal() != nil || bytes.ContainsAny(raw, plain) {
		t.Error("a wiped secret is still there")
	}
	var zero secret.Value
	zero.Wipe()
	if !zero.IsZero() || zero.Equal(nil) || zero.Equal([]byte{}) {
		t.Error("no secret equals something")
	}
}
