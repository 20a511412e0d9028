package decisions

import (
	"context"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

// A Log is this process's part of the decision log. Its methods may be called
// by several goroutines at once.
type Log struct{}

// A Ticket joins a call's outcome to its decision. The zero Ticket is of no
// call.
type Ticket struct {
	call  string
	index uint64
	key   [32]byte
}

// Call is the id of the call: call_ and a ULID.
func (t Ticket) Call() string { return t.call }

// Index is the place of the decision in its spool.
func (t Ticket) Index() uint64 { return t.index }

// Open opens the decision log of a data folder for this process: it claims a
// spool whose process is gone or makes one, and puts on record what other dead
// processes left open.
func Open(data string, o Options) (*Log, error) { return &Log{}, nil }

// Decided puts a decision on record, before its effect. It fills V, Type, At
// (where zero), Call (where empty), N, Last and Args; the arguments, which may be
// nil, go into the vault. With durable it returns once the entry survives a power
// cut. An entry whose Outcome is set (a refusal) has no outcome to come.
func (l *Log) Decided(ctx context.Context, e *registry.Entry, args []byte, durable bool) (Ticket, error) {
	return Ticket{}, nil
}

// Finished puts the outcome of a call on record. It fills V, Type, At (where
// zero), Call, Run, Agent (where empty), N, Last and Result.
func (l *Log) Finished(t Ticket, e *registry.Entry, result []byte) error { return nil }

// Note puts any other entry on record. It fills V, At (where zero), N and Last.
func (l *Log) Note(e *registry.Entry) error { return nil }

// KeepPolicy keeps the text of a policy for replay, by the digest that entries
// name it with. Keeping it again costs nothing.
func (l *Log) KeepPolicy(d credentials.Digest, text []byte) error { return nil }

// Sync returns once everything written so far survives a power cut.
func (l *Log) Sync() error { return nil }

// Err is why the log is stopped, or nil.
func (l *Log) Err() error { return nil }

// Close syncs and ends the log. What is open then is lost calls for whoever
// claims the spool next.
func (l *Log) Close() error { return nil }
