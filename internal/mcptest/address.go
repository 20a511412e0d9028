package mcptest

import "testing"

// Address is a loopback address for a server that a test starts more than once, or that
// another process starts. Until the test ends nobody else is given its port: a port that
// was only found free is handed out again at once, to whoever connects or listens next.
func Address(t testing.TB) string {
	t.Helper()
	address, release, err := Keep()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return address
}
