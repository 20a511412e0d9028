package canon

import (
	"errors"
	"strings"
	"testing"
)

type level struct{ n int }

var errLevel = errors.New("no such level")

func (l *level) UnmarshalText(b []byte) error {
	if string(b) != "high" {
		return errLevel
	}
	l.n = 1
	return nil
}

type claimsLike struct {
	Aud   string            `json:"aud"`
	Gen   uint64            `json:"gen"`
	Level level             `json:"level"`
	List  []int             `json:"list"`
	Inner map[string]string `json:"inner"`
}

func TestUnmarshalStrictly(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     error
	}{
		{"good", `{"aud":"a","gen":3,"level":"high","list":[1],"inner":{"x":"y"}}`, nil},
		{"absent members are the caller's business", `{}`, nil},
		{"unknown member", `{"aud":"a","extra":1}`, ErrMember},
		{"another case", `{"AUD":"evil"}`, ErrMember},
		{"another case beside", `{"aud":"a","Aud":"evil"}`, ErrMember},
		{"duplicate", `{"aud":"a","aud":"evil"}`, ErrDuplicate},
		{"duplicate inside", `{"inner":{"x":"a","x":"b"}}`, ErrDuplicate},
		{"null", `{"aud":null}`, ErrNull},
		{"a number for a string", `{"aud":1}`, ErrShape},
		{"an array for a string", `{"aud":["a"]}`, ErrShape},
		{"a string for a number", `{"gen":"3"}`, ErrShape},
		{"a fraction for an integer", `{"gen":1.5}`, ErrShape},
		{"a negative number", `{"gen":-1}`, ErrShape},
		{"a number beyond 64 bits", `{"gen":18446744073709551616}`, ErrShape},
		{"a text that its type refuses", `{"level":"secret-value"}`, errLevel},
		{"not an object", `[]`, ErrShape},
		{"trailing data", `{}{}`, ErrTrailing},
		{"byte order mark", "\ufeff{}", ErrBOM},
		{"lone surrogate", `{"aud":"\ud800"}`, ErrSurrogate},
		{"too deep", strings.Repeat("[", 70), ErrDepth},
		{"nothing", ``, ErrEmpty},
	} {
		var v claimsLike
		err := Unmarshal([]byte(c.in), &v, Limits{NoNull: true})
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret-value") || strings.Contains(err.Error(), "evil")) {
			t.Errorf("%s: the error repeats the text: %v", c.name, err)
		}
	}
}

func TestMarshalIsDeterministicAndCanonical(t *testing.T) {
	v := map[string]any{"b": 1.0, "a": []any{nil, "x\u0000y", uint64(18446744073709551615)}, "Z": map[string]int{"q": 1, "p": 2}}
	want := `{"Z":{"p":2,"q":1},"a":[null,"x\u0000y",18446744073709551615],"b":1}`
	for range 50 {
		got, err := Marshal(v)
		if err != nil || string(got) != want {
			t.Fatalf("got %s, %v", got, err)
		}
	}
	if _, err := Marshal(make(chan int)); err == nil {
		t.Error("a channel was marshalled")
	}
}
