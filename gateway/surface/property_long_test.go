//go:build long

package surface_test

import "testing"

func TestNeverExecutesWhatWasNotShown100k(t *testing.T) {
	checkSchedules(t, 1_000_000, 100_000)
}
