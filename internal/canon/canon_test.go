package canon

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func mustJSON(t testing.TB, in string) string {
	t.Helper()
	out, err := JSON([]byte(in), Limits{})
	if err != nil {
		t.Fatalf("%.60q: %v", in, err)
	}
	return string(out)
}

// RFC 8785 sections 3.2.2 to 3.2.4, but for one number: see the next test.
func TestRFC8785Examples(t *testing.T) {
	in := `{
	  "numbers": [333333333.3333333, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
	  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
	  "literals": [null, true, false]
	}`
	want := `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
	if got := mustJSON(t, in); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	in = `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
		`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
	want = `{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
		`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`
	if got := mustJSON(t, in); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The RFC lets a float64 change this number of its own example. We don't.
func TestStricterThanRFC8785OnNumbers(t *testing.T) {
	if _, err := JSON([]byte(`333333333.33333329`), Limits{}); !errors.Is(err, ErrNumber) {
		t.Errorf("got %v", err)
	}
}

// RFC 8785 appendix B: IEEE 754 bits and their text.
func TestRFC8785Numbers(t *testing.T) {
	for bits, want := range map[string]string{
		"0000000000000000": "0", "8000000000000000": "0", "0000000000000001": "5e-324", "8000000000000001": "-5e-324",
		"7fefffffffffffff": "1.7976931348623157e+308", "ffefffffffffffff": "-1.7976931348623157e+308",
		"4340000000000000": "9007199254740992", "c340000000000000": "-9007199254740992",
		"4430000000000000": "295147905179352830000", "44b52d02c7e14af5": "9.999999999999997e+22",
		"44b52d02c7e14af6": "1e+23", "44b52d02c7e14af7": "1.0000000000000001e+23",
		"444b1ae4d6e2ef4e": "999999999999999700000", "444b1ae4d6e2ef4f": "999999999999999900000",
		"444b1ae4d6e2ef50": "1e+21", "3eb0c6f7a0b5ed8c": "9.999999999999997e-7", "3eb0c6f7a0b5ed8d": "0.000001",
		"41b3de4355555553": "333333333.3333332", "41b3de4355555554": "333333333.33333325",
		"41b3de4355555555": "333333333.3333333", "41b3de4355555556": "333333333.3333334",
		"41b3de4355555557": "333333333.33333343", "becbf647612f3696": "-0.0000033333333333333333",
		"43143ff3c1cb0959": "1424953923781206.2",
	} {
		raw, err := hex.DecodeString(bits)
		if err != nil {
			t.Fatal(err)
		}
		var u uint64
		for _, b := range raw {
			u = u<<8 | uint64(b)
		}
		in := strconv.FormatFloat(math.Float64frombits(u), 'e', -1, 64)
		if got := mustJSON(t, in); got != want {
			t.Errorf("%s (%s): got %s, want %s", bits, in, got, want)
		}
	}
}

func TestNumbersByDecimalValue(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "1.0": "1", "1e0": "1", "10e-1": "1", "0.1e1": "1", "1.000000000000000000000000000000": "1", "1E+00": "1",
		"-0": "0", "-0.0": "0", "0e99999999999999": "0", "-0e-5": "0", "0.1": "0.1", "1e-1": "0.1", "-12.50": "-12.5",
		"9007199254740991": "9007199254740991", "9007199254740992": "9007199254740992", "9007199254740993": "9007199254740993",
		"9007199254740993.0": "9007199254740993", "9.007199254740993e15": "9007199254740993", "-9007199254740993": "-9007199254740993",
		"18446744073709551615": "18446744073709551615", "18446744073709552000": "18446744073709552000",
		"115792089237316195423570985008687907853269984665640564039457584007913129639935": "115792089237316195423570985008687907853269984665640564039457584007913129639935",
		"1000000000000000": "1000000000000000", "100000000000000000000": "100000000000000000000", "1e20": "100000000000000000000",
		"1e21": "1e+21", "1000000000000000000000": "1e+21", "123456789012345678901234567890": "123456789012345678901234567890",
		"1.5e300": "1.5e+300", "1e-7": "1e-7", "0.000001": "0.000001", "0.0000001": "1e-7", "1e308": "1e+308", "5e-324": "5e-324",
	} {
		if got := mustJSON(t, in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	for _, in := range []string{
		"0.10000000000000000001", "0.1000000000000000055511151231257827", "1e400", "-1e400", "1e-400", "1e999999999999999999",
		"9007199254740993.5", "1.00000000000000000001", "4e-324", "1" + strings.Repeat("0", 400), "1.7976931348623159e308",
		"1234567890123456789" + strings.Repeat("1", 110), "123456789012345678e300", "0." + strings.Repeat("0", 400) + "1",
	} {
		if out, err := JSON([]byte(in), Limits{}); !errors.Is(err, ErrNumber) {
			t.Errorf("%.40s: got %.40s, %v, want ErrNumber", in, out, err)
		}
	}
}

func TestNumbersThatDifferHaveDigestsThatDiffer(t *testing.T) {
	seen := map[[32]byte]string{}
	for _, n := range []string{"9007199254740992", "9007199254740993", "9007199254740994", "9007199254740995", "1", "10", "0.1", "1e21", "1e22"} {
		_, d, err := Metadata([]byte(`{"inputSchema":{"maximum":` + n + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have one digest", n, other)
		}
		seen[d] = n
	}
	_, one, _ := Metadata([]byte(`{"a":1,"b":"x"}`))
	for _, same := range []string{`{"b":"x","a":1.0}`, "{ \"a\" : 1e0,\n\"b\":\"\\u0078\" }"} {
		if _, d, err := Metadata([]byte(same)); err != nil || d != one {
			t.Errorf("%s: another digest, %v", same, err)
		}
	}
}

// For every float64 the canonical form is the one of ECMA-262, which
// encoding/json happens to write.
func TestFloatsAsES6(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			f = float64(r.Int64N(1e12)) / float64(uint64(1)<<r.IntN(40))
		}
		if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 {
			continue
		}
		want, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{string(want), strconv.FormatFloat(f, 'e', -1, 64), strconv.FormatFloat(f, 'f', -1, 64)} {
			if got := mustJSON(t, in); got != string(want) {
				t.Fatalf("%s: got %s, want %s", in, got, want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		name, in string
		want     error
	}{
		{"nothing", "", ErrEmpty},
		{"only blanks", " \t\r\n", ErrEmpty},
		{"byte order mark", "\ufeff{}", ErrBOM},
		{"byte order mark after a blank", " \ufeff{}", ErrBOM},
		{"UTF-16", "\xff\xfe{\x00}\x00", ErrBOM},
		{"UTF-16 big-endian", "\xfe\xff\x00{\x00}", ErrBOM},
		{"trailing value", `{} {}`, ErrTrailing},
		{"trailing bracket", `{}}`, ErrTrailing},
		{"trailing NUL", "{}\x00", ErrNUL},
		{"NUL for a value", "[\x00]", ErrNUL},
		{"NUL in a string", "\"a\x00b\"", ErrNUL},
		{"NUL escaped", `"a\u0000b"`, ErrNUL},
		{"NUL escaped in a name", `{"a\u0000":1}`, ErrNUL},
		{"line end in a string", "\"a\nb\"", ErrControl},
		{"escape character in a string", "\"\x1b[31m\"", ErrControl},
		{"duplicate member", `{"a":1,"a":1}`, ErrDuplicate},
		{"duplicate member apart", `{"a":1,"b":2,"c":3,"a":4}`, ErrDuplicate},
		{"duplicate after unescaping", `{"a":1,"\u0061":2}`, ErrDuplicate},
		{"duplicate beyond the basic plane", `{"😀":1,"\ud83d\ude00":2}`, ErrDuplicate},
		{"duplicate inside", `[{"x":{"":0,"":1}}]`, ErrDuplicate},
		{"invalid UTF-8", "\"\xff\"", ErrUTF8},
		{"overlong", "\"\xc0\xaf\"", ErrUTF8},
		{"surrogate as UTF-8", "\"\xed\xa0\x80\"", ErrUTF8},
		{"cut UTF-8", "\"\xe2\x82\"", ErrUTF8},
		{"beyond Unicode", "\"\xf4\x90\x80\x80\"", ErrUTF8},
		{"invalid UTF-8 in a name", "{\"\xff\":1}", ErrUTF8},
		{"invalid UTF-8 outside", "\xff", ErrSyntax},
		{"high surrogate alone", `"\ud800"`, ErrSurrogate},
		{"low surrogate alone", `"\udc00"`, ErrSurrogate},
		{"surrogates reversed", `"\udc00\ud800"`, ErrSurrogate},
		{"two high surrogates", `"\ud800\ud800"`, ErrSurrogate},
		{"high surrogate and a letter", `"\ud800a"`, ErrSurrogate},
		{"high surrogate and a line end", `"\ud800\n"`, ErrSurrogate},
		{"lone surrogate in a name", `{"\ud800":1}`, ErrSurrogate},
		{"depth 65", nest(65), ErrDepth},
		{"depth 100000", nest(100000), ErrDepth},
		{"objects too deep", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), ErrDepth},
		{"too long", `"` + strings.Repeat("a", 1<<20) + `"`, ErrSize},
		{"leading zero", "01", ErrTrailing},
		{"plus", "+1", ErrSyntax},
		{"bare point", "1.", ErrSyntax},
		{"point first", ".5", ErrSyntax},
		{"empty exponent", "1e", ErrSyntax},
		{"empty signed exponent", "1e+", ErrSyntax},
		{"minus", "-", ErrSyntax},
		{"hexadecimal", "0x10", ErrTrailing},
		{"NaN", "NaN", ErrSyntax},
		{"Infinity", "-Infinity", ErrSyntax},
		{"trailing comma", `[1,]`, ErrSyntax},
		{"trailing comma in an object", `{"a":1,}`, ErrSyntax},
		{"no comma", `[1 2]`, ErrSyntax},
		{"no colon", `{"a" 1}`, ErrSyntax},
		{"no value", `{"a":}`, ErrSyntax},
		{"name not quoted", `{a:1}`, ErrSyntax},
		{"single quotes", `{'a':1}`, ErrSyntax},
		{"comment", `{/**/}`, ErrSyntax},
		{"open string", `"abc`, ErrSyntax},
		{"open escape", `"abc\`, ErrSyntax},
		{"cut escape", `"\u12`, ErrSyntax},
		{"bad escape", `"\x41"`, ErrSyntax},
		{"bad hexadecimal", `"\u12g4"`, ErrSyntax},
		{"open array", `[1`, ErrSyntax},
		{"open object", `{"a":1`, ErrSyntax},
		{"mixed brackets", `[1}`, ErrSyntax},
		{"wrong literal", `nul`, ErrSyntax},
		{"upper-case literal", `True`, ErrSyntax},
		{"other blank", "\u00a01", ErrSyntax},
		{"form feed", "\f1", ErrSyntax},
	} {
		if out, err := JSON([]byte(c.in), Limits{}); !errors.Is(err, c.want) || out != nil {
			t.Errorf("%s: got %.40q, %v, want %v", c.name, out, err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	nest := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := JSON(nest(64), Limits{}); err != nil {
		t.Errorf("depth 64 is the default: %v", err)
	}
	if _, err := JSON(nest(3), Limits{Depth: 2}); !errors.Is(err, ErrDepth) {
		t.Errorf("depth 3 of 2: %v", err)
	}
	if _, err := JSON([]byte(`[1,2]`), Limits{Bytes: 4}); !errors.Is(err, ErrSize) {
		t.Errorf("5 bytes of 4: %v", err)
	}
	if out, err := JSON([]byte(`"\u0000"`), Limits{AllowNUL: true}); err != nil || string(out) != `"\u0000"` {
		t.Errorf("NUL allowed: %s, %v", out, err)
	}
	if _, err := JSON([]byte("\"\x00\""), Limits{AllowNUL: true}); !errors.Is(err, ErrNUL) {
		t.Errorf("a raw NUL is never allowed: %v", err)
	}
	if _, err := JSON([]byte(`{"a":[null]}`), Limits{NoNull: true}); !errors.Is(err, ErrNull) {
		t.Errorf("null: %v", err)
	}
}

func TestMetadata(t *testing.T) {
	c, d, err := Metadata([]byte(` {"name":"x", "custom":{"b":1,"a":2}} `))
	if err != nil || string(c) != `{"custom":{"a":2,"b":1},"name":"x"}` {
		t.Fatalf("%s, %v", c, err)
	}
	if d != Digest("pratique/metadata/v1", c) || d == Digest("pratique/other/v1", c) {
		t.Error("the digest is not bound to its context")
	}
	// Labels in the field name this digest: it must never change.
	if got := hex.EncodeToString(d[:]); got != "23465216e0227ad5036c35c06cec72a251fb48e2454af75764897202dc209182" {
		t.Errorf("digest %s", got)
	}
	for _, in := range []string{`[]`, `"x"`, `1`, `null`} {
		if _, _, err := Metadata([]byte(in)); !errors.Is(err, ErrNotObject) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if _, _, err := Metadata([]byte(`{"description":"` + strings.Repeat("a", 1<<20) + `"}`)); !errors.Is(err, ErrSize) {
		t.Errorf("description of 1 MiB: %v", err)
	}
}

func TestMembersInOrderAtEveryDepth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	names := make([]string, 300)
	for i := range names {
		names[i] = fmt.Sprintf("%q:%d", fmt.Sprint("m", i*7919%300), i)
	}
	var want string
	for range 20 {
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		inner := "{" + strings.Join(names, ",") + "}"
		got := mustJSON(t, `{"z":[`+inner+`],"a":`+inner+`}`)
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatal("the order of members shows in the canonical form")
		}
	}
	if !bytes.HasPrefix([]byte(want), []byte(`{"a":{"m0":`)) {
		t.Errorf("order: %.40s", want)
	}
}
