// Package sqlite keeps the log in one SQLite database in a private folder.
//
// It is the embedded engine: no server, one file that everybody can query and
// copy, shared by any number of processes on one machine. Its promises:
//
//   - Append is durable when it returns nil: WAL with synchronous=FULL, which
//     is set and read back at every opening (NORMAL would lose acknowledged
//     entries at a power cut).
//   - After an error the writing connection is closed and a new one is opened
//     before anything else is written. A failed sync is never tried again,
//     since the kernel may have dropped the pages and would then call the
//     second sync a success. The first process to open the folder copies what
//     the write-ahead log holds into the database and syncs that, before
//     anything is acknowledged on top of it.
//   - Processes queue for the write lock (Turns), because SQLite's own waiting
//     is a sleep that starves whoever is unlucky.
//
// Files in the folder: log.db (with -wal and -shm), open.lock, member.lock,
// queue.lock, turn.lock, leases/. None of them may be opened by other code
// of the same process while the log is open: closing any descriptor of a
// file drops POSIX locks on it (on Linux the database itself is safe from
// that, since open file description locks are used).
package sqlite
