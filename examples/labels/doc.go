// Package labels holds no code of the product. Its tests run the built service as
// people do, and follow what becomes of labels: the reviewer looks at what was
// registered, the gateway uses it, an observer reports it, it breaks its word, and an
// operator releases it. What the commands show, what verifies offline and what the
// stream says is the same.
package labels
