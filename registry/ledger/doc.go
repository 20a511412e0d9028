// Package ledger makes the registry's log a transparency log: the tree that
// the writer folds entries into, signed checkpoints of its heads, tiles and
// proofs served straight from the log table, the clients and witnesses that
// keep the log honest, and the walk that finds what was changed in a store.
//
// Formats: RFC 6962 section 2.1 (hashes, proofs), c2sp.org/signed-note,
// c2sp.org/tlog-checkpoint, c2sp.org/tlog-tiles, c2sp.org/tlog-cosignature,
// c2sp.org/tlog-witness.
//
// # Order of events
//
// An entry is folded into a clone of the [Tree]; entry, size and root commit
// in one transaction; only then is the new head signed ([Signer.Sign]) and the
// signed note stored as a row keyed by size, where the first row wins. Signing
// after the commit is what keeps two processes from signing two roots for one
// size. Nothing is acknowledged before a checkpoint covers it, so whatever
// lies beyond the newest checkpoint can be a torn tail and nothing else can.
package ledger
