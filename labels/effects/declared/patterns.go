package declared

import (
	"regexp"
	"strings"
)

// Bounds of patterns that are tried: how many of one tool, and their bytes.
const (
	maxPatterns     = 32
	maxPatternBytes = 200
)

// probes are values of classes whose form is their own. A pattern that takes all of
// one line, and none of the innocent, asks for the class.
var probes = []struct {
	class  Class
	values []string
}{
	{Card, []string{"4111111111111111", "4012888888881881"}},
	{Card, []string{"4111 1111 1111 1111"}},
	{Card, []string{"4111-1111-1111-1111"}},
	{NationalID, []string{"078-05-1120", "219-09-9999"}},
	{BankAccount, []string{"DE89370400440532013000", "GB29NWBK60161331926819"}},
	{AccessToken, []string{"ghp_0123456789abcdefghijABCDEFGHIJ012345"}},
	{AccessToken, []string{"AKIAIOSFODNN7EXAMPLE"}},
	{AccessToken, []string{"sk-0123456789abcdefghijABCDEFGHIJ0123456789abcdefgh"}},
	{AccessToken, []string{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"}},
	{AccessToken, []string{"xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx"}},
	{PrivateKey, []string{"-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"}},
	{Mail, []string{"ada.lovelace@example.org", "b@mail.example.com"}},
	{Phone, []string{"+14155552671", "+442071838750"}},
}

// innocent are values that a pattern for anything takes as well.
var innocent = []string{
	"hello world", "a", "abc", "Berlin", "1234567890", "12345678901234567890", "42", "2026-11-30", "2026-11-30T12:00:00Z", "f47ac10b-58cc-4372-a567-0e02b2c3d479",
	"https://www.example.org/a?b=c", "src/main.go", "1.2.3", "#ff8800", "AAPL", "de_DE", "main", "0123456789abcdef0123456789abcdef01234567", "4111111111111",
	"abc-def_ghi", "user-name", "a.b.c", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "12-34-5678", "sk-learn", "@name", "us-east-1", "1234567890123456789",
}

// askedByPattern is the class of what a pattern takes; nil: of none, or of too much.
func askedByPattern(pattern string, budget *int) *class {
	if *budget == 0 {
		return nil
	}
	*budget--
	return takes(pattern)
}

// takes does the same. Go's expressions take time linear in pattern and value.
func takes(pattern string) *class {
	if len(pattern) > maxPatternBytes || manyTimes(pattern) {
		return nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	for _, p := range probes {
		if !takesAll(re, p.values) {
			continue
		}
		for _, v := range innocent {
			if re.MatchString(v) {
				return nil
			}
		}
		return byClass[p.class]
	}
	return nil
}

// manyTimes tells whether a pattern repeats something a hundred times or more, which
// costs as much.
func manyTimes(pattern string) bool {
	n := 0
	for i := range len(pattern) {
		if c := pattern[i]; c < '0' || c > '9' {
			n = 0
		} else if n++; n > 2 && strings.LastIndexByte(pattern[:i], '{') > strings.LastIndexByte(pattern[:i], '}') {
			return true
		}
	}
	return false
}

func takesAll(re *regexp.Regexp, values []string) bool {
	for _, v := range values {
		if !re.MatchString(v) {
			return false
		}
	}
	return true
}
