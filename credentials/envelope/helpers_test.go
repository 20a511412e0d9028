package envelope_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sum(b []byte) []byte {
	s := sha256.Sum256(b)
	return s[:]
}
