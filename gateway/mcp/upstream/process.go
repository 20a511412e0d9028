package upstream

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
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
type Process struct {
	name    string
	command []string
	path    string
	place   gateway.Place
	o       ProcessOptions
	n       counters
	budget  atomic.Int64 // bytes that may yet be held of frames that are being read
	stderr  *tail
	links   *links
}

var _ gateway.Upstream = (*Process)(nil)

// NewProcess is the upstream that the command starts. Nothing is started yet.
// name is the operator's word for it. Its error is ErrOptions.
func NewProcess(name string, command []string, o *ProcessOptions) (*Process, error) {
	p := &Process{name: name, command: slices.Clone(command), links: newLinks()}
	if o != nil {
		p.o = *o
	}
	p.o.Bounds.defaults()
	p.budget.Store(p.o.Bounds.Buffers)
	quiet(&p.o.Log, &p.o.Now)
	if p.o.Env == nil {
		p.o.Env = Environ(os.LookupEnv, nil)
	}
	for _, s := range slices.Concat(command, p.o.Env, []string{p.o.Dir}) {
		if strings.IndexByte(s, 0) >= 0 {
			return nil, ErrOptions
		}
	}
	if name == "" || len(command) == 0 || command[0] == "" {
		return nil, ErrOptions
	}
	if p.o.Origin.IsZero() {
		var err error
		if p.o.Origin, err = origin.Parse("stdio:" + name); err != nil {
			return nil, both(ErrOptions, err)
		}
	}
	if p.o.Origin.Kind() != origin.Stdio {
		return nil, ErrOptions
	}
	var err error
	if p.path, err = resolve(command[0], p.o.Dir); err != nil {
		return nil, both(ErrOptions, exec.ErrNotFound)
	}
	p.place = gateway.Place{Origin: p.o.Origin, Launch: p.o.Launch, Unpinned: p.o.Launch == nil || p.o.Launch.Unpinned}
	p.stderr = newTail(p.o.Stderr, p.o.Log.With("upstream", name), p.o.Now)
	return p, nil
}

// resolve finds a command as a shell in the folder would.
func resolve(command, dir string) (string, error) {
	if filepath.Base(command) != command && !filepath.IsAbs(command) {
		command = filepath.Join(dir, command)
	}
	path, err := exec.LookPath(command)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// quiet fills in a logger that drops all, and the clock.
func quiet(log **slog.Logger, now *func() time.Time) {
	if *log == nil {
		*log = slog.New(slog.DiscardHandler)
	}
	if *now == nil {
		*now = time.Now
	}
}

// Environ is what a process gets of our environment: PATH, HOME, LANG and TMPDIR
// (on Windows also what programs there need to start), then whatever names
// holds: "NAME" is handed on if look has it, "NAME=value" is set. The result is
// sorted.
func Environ(look func(string) (string, bool), names []string) []string {
	set := map[string]string{}
	for _, n := range slices.Concat([]string{"PATH", "HOME", "LANG", "TMPDIR"}, needed, names) {
		if name, value, ok := strings.Cut(n, "="); ok {
			set[name] = value
		} else if value, ok := look(n); ok {
			set[n] = value
		}
	}
	env := make([]string, 0, len(set))
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// Name is the operator's word for it.
func (p *Process) Name() string { return p.name }

// Place is its origin and launch.
func (p *Process) Place() gateway.Place { return p.place }

// Connect starts a process and shakes hands with it. Its errors are ErrClosed,
// ErrEra and those that are gateway.ErrUnreachable.
func (p *Process) Connect(ctx context.Context, hello mcp.Hello, sink gateway.Sink) (gateway.Link, error) {
	l := &processLink{
		core: newCore(context.WithoutCancel(ctx), p.name, hello, sink, &p.o.Bounds, &p.n, p.o.Log, p.o.Now),
		p:    p, cur: newCurrent[pipe](),
	}
	if !p.links.add(l) {
		l.shut()
		return nil, both(ErrClosed, ErrUnsent)
	}
	if err := l.begin(ctx); err != nil {
		_ = l.Close()
		return nil, unreachable(err)
	}
	return l, nil
}

// start starts one process.
func (p *Process) start(ctx context.Context) (*child, error) {
	if p.o.Check != nil {
		if err := p.o.Check(ctx); err != nil {
			return nil, both(ErrStart, err)
		}
	}
	return startChild(&exec.Cmd{Path: p.path, Args: p.command, Dir: p.o.Dir, Env: p.o.Env})
}

// heard takes what a process writes to standard error.
func (p *Process) heard(b []byte) { p.n.stderr.Add(uint64(p.stderr.write(b))) }

// Stderr is the newest that was written to standard error: at most 64 KiB of all
// processes together, made printable.
func (p *Process) Stderr() string { return p.stderr.String() }

// Stats counts what was dropped.
func (p *Process) Stats() Stats { return p.n.stats() }

// Close ends all links and their processes.
func (p *Process) Close() error {
	p.links.close()
	return nil
}
