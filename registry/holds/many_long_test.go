//go:build long

package holds_test

import "testing"

// Test10000: ten thousand holds of one agent are kept, listed and found.
func Test10000(t *testing.T) { many(t, 10_000) }
