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
//
// # What a store must hold so that changes are located
//
// The signed roots detect every change, but say only that it lies between two
// checkpoints. To name the row, a store keeps a check beside each row, bound to
// the row's own key, and shows rows and checks as they are ([Auditor]):
//
//   - an entry: its leaf hash, with the index folded in (XOR of the first
//     eight bytes), so that two rows that swapped places both disagree;
//   - a checkpoint: an ordinal n = 0, 1, 2, ..., so that a deleted row leaves a
//     gap, and a digest over n, size and note, since base64 and signatures of
//     unknown keys leave bytes of a note that no signature covers;
//   - the head: the number of checkpoints, so that a missing newest one shows,
//     and a digest over size, root and that number.
//
// The checks are no secrets: who rewrites row and check alike is found by the
// signed roots, between two checkpoints. Who holds the checkpoint key too can
// rewrite everything since the last checkpoint that somebody else saw, and
// only a copy kept elsewhere ([Copies]), a [Follower] or a witness shows it.
//
// # Limits
//
// Checkpoints are signed with Ed25519 only. Tiles are not persisted: after a
// start the first proof reads all leaf hashes ([Tiles.Warm]). A witness or a
// follower that loses its memory believes the next checkpoint it sees.
package ledger
