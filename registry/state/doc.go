// Package state folds the log into tables that answer at once: go-memdb, one
// schema function per table, at most three indexes each, indexers without
// reflection.
//
// Apply is pure and deterministic: time and randomness arrive in the event, so
// every replica that has read the same entries holds the same rows. Records
// are never changed in place; a reader keeps the snapshot that it was given.
//
// go-memdb does not enforce unique secondary indexes: inserting a second tool
// with the same (origin, name) would silently take the name over, which is the
// attack this project exists to stop. Txn.takeName checks in the same write
// transaction, and a test asserts the invariant over random histories.
package state
