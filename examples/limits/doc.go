// Package limits holds no code of the product. Its tests demonstrate what the product
// does not do: each prints KNOWN_LIMITATION with what got through, and shows beside it
// what still holds there. A test fails when its limit is not there any more, as when
// it reaches further: docs/limits.md names the tests and would be wrong in both cases.
package limits
