package value_test

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/value"
)

func Example() {
	r, err := value.ReadRecipients([]string{"@corp.example", "ann@other.example"})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Check("Bob <bob@CORP.example>, ann@other.example") == "")
	fmt.Println(r.Check("bob@corp.example, eve@evil.example"))
	// Output:
	// true
	// A recipient is none of those that are allowed.
}

func ExampleCompare() {
	a, _ := value.ParseNumber([]byte("9007199254740993"))
	b, _ := value.ParseNumber([]byte("9007199254740992"))
	fmt.Println(value.Compare(a, b))
	// Output: 1
}

func TestNumbers(t *testing.T) {
	ordered := [][]string{
		{"-1e400"}, {"-10.5", "-1.05e1", "-1050e-2"}, {"-1", "-1.0"}, {"-0.1", "-1e-1"}, {"-1e-999999999999"},
		{"0", "-0", "0.000", "0e5", "-0e-9", "0.0e999999999999999999"}, {"1e-400", "10e-401"}, {"0.09"}, {"0.1", "0.10", "1e-1", "100e-3"}, {"1"}, {"9.99"}, {"10", "1e1", "10.0", "1E+1"},
		{"999"}, {"1000", "1e3", "1.000e3", "0.001e6"}, {"9007199254740992"}, {"9007199254740993"}, {"1e20", "100000000000000000000"}, {"100000000000000000000.5"}, {"1e999999999999999999"},
	}
	read := func(s string) value.Number {
		n, ok := value.ParseNumber([]byte(s))
		if !ok {
			t.Fatalf("%s is a number", s)
		}
		return n
	}
	for i, as := range ordered {
		for j, bs := range ordered {
			for _, a := range as {
				for _, b := range bs {
					want := 0
					if i < j {
						want = -1
					} else if i > j {
						want = 1
					}
					if got := value.Compare(read(a), read(b)); got != want {
						t.Errorf("Compare(%s, %s) = %d, want %d", a, b, got, want)
					}
				}
			}
		}
	}
	for _, s := range []string{"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "NaN", "Infinity", "0x10", "1_000", " 1", "1 ", "1e1.5", "1,000", "1e1234567890123456789", "１", "--1", "1e--1", "\"1\""} {
		if _, ok := value.ParseNumber([]byte(s)); ok {
			t.Errorf("%q is taken for a number", s)
		}
	}
}

// FuzzNumbers: the order is that of exact fractions.
func FuzzNumbers(f *testing.F) {
	f.Add("1e3", "1000.0")
	f.Add("-0.00", "0")
	f.Add("9007199254740993", "9007199254740992")
	form := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	large := regexp.MustCompile(`[eE][-+]?0*[1-9][0-9]{3}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		x, ok := value.ParseNumber([]byte(a))
		if ok != form.MatchString(a) && !large.MatchString(a) {
			t.Fatalf("ParseNumber(%q) = %t", a, ok)
		}
		y, ok2 := value.ParseNumber([]byte(b))
		if !ok || !ok2 || large.MatchString(a) || large.MatchString(b) {
			return
		}
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		if got := value.Compare(x, y); got != p.Cmp(q) {
			t.Errorf("Compare(%s, %s) = %d", a, b, got)
		}
	})
}

func TestDates(t *testing.T) {
	for _, s := range []string{
		"", "2026-02-30", "2026-2-3", "20260203", "2026-02-03T", "2026-02-03T10:00Z", "2026-02-03 10:00:00Z", "2026-02-03T10:00:00", "2026-02-03T24:00:00Z", "2026-02-03T10:00:60Z", "2026-02-03t10:00:00z",
		"2026-02-03T10:00:00.Z", "2026-02-03T10:00:00,5Z", "2026-02-03T10:00:00+1:00", "2026-02-03T10:00:00+01", "2026-02-03T10:00:00+25:00", "2026-02-03T10:00:00.1234567890123Z", "tomorrow", "1767225600", "2026-02-03\n", "2026-02-03T10:00:00Z ", "٢٠٢٦-02-03",
	} {
		if _, ok := value.ParseDate(s); ok {
			t.Errorf("%q is taken for a date", s)
		}
	}
	for _, c := range []struct {
		a, b   string
		before bool
	}{
		{"2026-02-28", "2026-03-01", true}, {"2026-03-01", "2026-03-01", false}, {"2026-03-02", "2026-03-01", false},
		{"2026-03-01T10:00:00Z", "2026-03-01T10:00:01Z", true}, {"2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z", false}, {"2026-03-01T10:00:00+02:00", "2026-03-01T09:00:00Z", true}, {"2026-03-01T10:00:00.1Z", "2026-03-01T10:00:00.2Z", true},
		{"2026-02-27", "2026-03-01T00:00:00Z", true}, {"2026-02-28", "2026-03-01T00:00:00Z", false}, {"2026-02-28", "2026-03-01T12:00:00Z", true},
		{"2026-02-28T09:59:59Z", "2026-03-01", true}, {"2026-02-28T10:00:00Z", "2026-03-01", false}, {"2026-03-01T00:00:00Z", "2026-03-01", false},
	} {
		a, ok := value.ParseDate(c.a)
		b, ok2 := value.ParseDate(c.b)
		if !ok || !ok2 || a.Before(b) != c.before {
			t.Errorf("%s before %s: %t %t %t", c.a, c.b, a.Before(b), ok, ok2)
		}
	}
}

func TestRecipients(t *testing.T) {
	r, err := value.ReadRecipients([]string{"ann@corp.example", "@team.example", "@b\u00fccher.example", "#ops", "+4912345", "Lee@x.example"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"ann@corp.example": "", "ann@CORP.Example": "", "ann@corp.example.": "", "<ann@corp.example>": "", "Ann <ann@corp.example>": "", `"Ann, Lee" <ann@corp.example>`: "", "mailto:ann@corp.example": "", "MAILTO:ann@corp.example": "", `"ann"@corp.example`: "",
		"x@team.example": "", "x+tag@team.example": "", "\u00e9ric@team.example": "", "a@xn--bcher-kva.example": "", "a@B\u00dcCHER.example": "", "#ops": "", "+4912345": "", "#ops, ann@corp.example": "", "ann@corp.example; x@team.example,": "", "Lee@x.example": "", "Ann <ann@corp.example>, Bob <bob@team.example>": "",

		"eve@evil.example": value.WhyOtherRecipient, "Ann@corp.example": value.WhyOtherRecipient, "ann+x@corp.example": value.WhyOtherRecipient, "lee@x.example": value.WhyOtherRecipient, "x@sub.team.example": value.WhyOtherRecipient, "x@team.example.evil.example": value.WhyOtherRecipient, "x@notteam.example": value.WhyOtherRecipient,
		"ann@corp.example, eve@evil.example": value.WhyOtherRecipient, "ann@corp.example;eve@evil.example": value.WhyOtherRecipient, "Ann <eve@evil.example>": value.WhyOtherRecipient, `"ann@corp.example" <eve@evil.example>`: value.WhyUnsureRecipient, "#general": value.WhyOtherRecipient, "everyone": value.WhyOtherRecipient,
		"x@te\u0430m.example": value.WhyOtherRecipient, "@team.example": value.WhyOtherRecipient,

		"": value.WhyUnsureRecipient, " ": value.WhyUnsureRecipient, ",": value.WhyUnsureRecipient, "ann@corp.example\r\nBcc: eve@evil.example": value.WhyUnsureRecipient, "ann@corp.example\neve@evil.example": value.WhyUnsureRecipient, "ann@corp.example eve@evil.example": value.WhyUnsureRecipient, "ann@corp.example <eve@evil.example>": value.WhyUnsureRecipient,
		"mailto:ann@corp.example?bcc=eve@evil.example": value.WhyUnsureRecipient, "mailto:ann%40corp.example": value.WhyUnsureRecipient, "Team: ann@corp.example, eve@evil.example;": value.WhyUnsureRecipient, "Team:ann@corp.example;": value.WhyUnsureRecipient, "ann(eve@evil.example)@corp.example": value.WhyUnsureRecipient, "eve%evil.example@team.example": value.WhyUnsureRecipient, "evil.example!eve@team.example": value.WhyUnsureRecipient,
		"<@team.example:eve@evil.example>": value.WhyUnsureRecipient, `"eve@evil.example"@team.example`: value.WhyUnsureRecipient, `"eve@evil.example, "@team.example`: value.WhyUnsureRecipient, `"a" "b" <ann@corp.example>`: value.WhyUnsureRecipient, "eve@evil.example@team.example": value.WhyUnsureRecipient, "=?utf-8?q?x?= <ann@corp.example>": value.WhyUnsureRecipient, "x@[10.0.0.1]": value.WhyUnsureRecipient, "x@10.0.0.1": value.WhyUnsureRecipient,
		"a\u200bnn@corp.example": value.WhyUnsureRecipient, "ann@corp\x00.example": value.WhyUnsureRecipient, "ann@corp.example>": value.WhyUnsureRecipient, "<ann@corp.example": value.WhyUnsureRecipient, "<ann@corp.example> eve": value.WhyUnsureRecipient, ".x@team.example": value.WhyUnsureRecipient, "x@team..example": value.WhyUnsureRecipient, "x@-": value.WhyUnsureRecipient, "\xff@team.example": value.WhyUnsureRecipient, "#ops:x": value.WhyUnsureRecipient,
		strings.Repeat("x@team.example,", 2000): value.WhyUnsureRecipient, "<>": value.WhyUnsureRecipient, "mailto:": value.WhyUnsureRecipient,
	} {
		if got := r.Check(text); got != want {
			t.Errorf("Check(%+q) = %q, want %q", text, got, want)
		}
	}
	var none *value.Recipients
	if none.Check("ann@corp.example") != value.WhyNoRecipient || new(value.Recipients).Check("x") != value.WhyNoRecipient || !none.May("x") {
		t.Error("nobody allows somebody")
	}
}

func TestRecipientsThatMayBe(t *testing.T) {
	r, err := value.ReadRecipients([]string{"ceo@corp.example", "@press.example", "#all"})
	if err != nil {
		t.Fatal(err)
	}
	for text, may := range map[string]bool{
		"ceo@corp.example": true, "CEO@corp.example": true, "c.e.o+x@corp.example": true, "x@press.example": true, "ann@corp.example, ceo@corp.example": true, "ann@corp.example\n": true, "": true, "#all": true, "#All": true,
		"ann@corp.example": false, "ceo@other.example": false, "#dev": false, "ann@corp.example, #dev": false,
	} {
		if got := r.May(text); got != may {
			t.Errorf("May(%q) = %t", text, got)
		}
	}
}

func TestRecipientsThatAreNone(t *testing.T) {
	for _, p := range []string{"", "@", "a@", "a b@corp.example", "@corp.example, @x.example", "a@b", "Ann <ann@corp.example>", "mailto:a@corp.example", "a\n", "*@corp.example", "@*.example", "@10.0.0.1"} {
		if _, err := value.ReadRecipients([]string{p}); err != value.ErrRecipient {
			t.Errorf("%q is taken for a recipient", p)
		}
	}
	if _, err := value.ReadRecipients(nil); err != value.ErrRecipient {
		t.Error("nobody")
	}
}

// FuzzRecipients: whoever is not allowed is not in a text that passes, however it is
// taken apart.
func FuzzRecipients(f *testing.F) {
	for _, s := range []string{"Ann <ann@corp.example>, eve@evil.example", `"a,b" <x@corp.example>;`, "mailto:x@corp.example", `"ann"@corp.example`} {
		f.Add(s)
	}
	r, err := value.ReadRecipients([]string{"@corp.example"})
	if err != nil {
		f.Fatal(err)
	}
	at := regexp.MustCompile(`@[^@\s,;<>"]*`)
	f.Fuzz(func(t *testing.T, text string) {
		if r.Check(text) != "" {
			return
		}
		if !r.May(text) {
			t.Errorf("%q passes and may not", text)
		}
		for _, d := range at.FindAllString(text, -1) {
			if strings.TrimSuffix(strings.ToLower(d), ".") != "@corp.example" && isASCII(d) {
				t.Errorf("%q passes with %q", text, d)
			}
		}
	})
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 }
