package credentials_test

import (
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// A fresh token is good for a verifier whose clock is 45 seconds behind; the same
// token is not good for a day more.
func ExampleRegistered_CheckTime() {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r := credentials.NewRegistered("https://registry.example", "AAAAAAAAAAAAAAAAAAAAAA", now, time.Hour)
	fmt.Println(r.CheckTime(now.Add(-45*time.Second), credentials.MaxHandleLife))
	fmt.Println(r.CheckTime(now.Add(24*time.Hour), credentials.MaxHandleLife))
	// Output:
	// <nil>
	// token has expired
}
