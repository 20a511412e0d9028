//go:build long

package ref_test

import "testing"

// TestGitLong is TestGit over thousands of refspecs, command lines and names.
func TestGitLong(t *testing.T) {
	pushes(t, 12_000, 7)
	lines(t, 6_000, 7)
	forms(t, 10_000, 7)
	formats(t, 3_000, 7)
}
