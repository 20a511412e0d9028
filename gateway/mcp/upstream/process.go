package upstream

import (
	"context"
	"log/slog"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// ProcessOptions are the settings of a Process; nil and the zero value work.
type ProcessOptions struct {
	Dir    string           // working folder; "": ours
	Env    []string         // NAME=value: all that the process gets; nil: Environ(os.LookupEnv, nil)
	Origin origin.Origin    // of kind stdio; zero: stdio:NAME
	Launch *baseline.Launch // the pin; nil: none known, which counts as unpinned

	// Check is asked before each start whether the pin still holds. On an error
	// nothing is started. nil: nobody asks.
	Check func(ctx context.Context) error

	Bounds Bounds
	Stderr func(line string) // each line of standard error, made printable; nil: Log at level info
	Log    *slog.Logger      // nil: nothing
	Now    func() time.Time  // nil: time.Now
}

// A Process is an upstream on stdio: one process for each session.
type Process struct{}

var _ gateway.Upstream = (*Process)(nil)

// NewProcess is the upstream that the command starts. Nothing is started yet.
// name is the operator's word for it. Its error is ErrOptions.
func NewProcess(name string, command []string, o *ProcessOptions) (*Process, error) {
	panic("not yet")
}

// Environ is what a process gets of our environment: PATH, HOME, LANG and TMPDIR
// (on Windows also what programs there need to start), then whatever names
// holds: "NAME" is handed on if look has it, "NAME=value" is set. The result is
// sorted.
func Environ(look func(string) (string, bool), names []string) []string { panic("not yet") }

// Name is the operator's word for it.
func (p *Process) Name() string { panic("not yet") }

// Place is its origin and launch.
func (p *Process) Place() gateway.Place { panic("not yet") }

// Connect starts a process and shakes hands with it.
func (p *Process) Connect(ctx context.Context, hello mcp.Hello, sink gateway.Sink) (gateway.Link, error) {
	panic("not yet")
}

// Stderr is the newest that was written to standard error: at most 64 KiB of all
// processes together, made printable.
func (p *Process) Stderr() string { panic("not yet") }

// Stats counts what was dropped.
func (p *Process) Stats() Stats { panic("not yet") }

// Close ends all links and their processes.
func (p *Process) Close() error { panic("not yet") }
