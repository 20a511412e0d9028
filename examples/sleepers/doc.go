// Package sleepers holds no code of the product. Its tests put servers behind the
// gateway whose tools are good until a count is reached, a date is past, a certain
// agent calls, an argument says so, the label is Green, the conduct was found
// consistent, or another call is open. What they declare stays the same throughout,
// so no inspection of metadata can know them.
//
// Each test says what the first bad effect was, which nobody undoes; that the label
// turns with it, and for whom; and what is refused from then on, after a restart too.
// Where nothing turns, because a server misused only what is its own or because an
// effect could not be assigned, the test prints KNOWN_LIMITATION and shows which rule
// still holds. docs/limits.md has the rows.
package sleepers
