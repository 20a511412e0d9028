// Package stage puts the real gateway between a scripted server and raw agents, for
// tests: the built binary, run as people run it, guard on stdio or up at /mcp, on a
// data folder of its own. What was executed is read from the server's own log, and
// what was decided from `pratique ledger show`.
package stage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/internal/mcptest"
)

// A Way is how agent, gateway and server are joined: the agent's side first.
type Way string

// The ways. Guard serves those that begin with stdio, up the others.
const (
	StdioStdio Way = "stdio>stdio"
	StdioHTTP  Way = "stdio>http"
	HTTPHTTP   Way = "http>http"
	HTTPStdio  Way = "http>stdio"
)

// Guarded tells whether the agent's side is stdio, so that each agent is a launch of
// its own gateway.
func (w Way) Guarded() bool { return strings.HasPrefix(string(w), "stdio>") }

// Remote tells whether the server is an HTTP endpoint.
func (w Way) Remote() bool { return strings.HasSuffix(string(w), ">http") }

// Options are the gateway's configuration. The zero value is what people get who
// configure nothing.
type Options struct {
	Profile   string
	Rules     string // text of a rule file; empty: none
	Freshness string // "0s" lists before each call
	Wait      string // for an early call
	Grace     string // until what a server returned that is away is withdrawn
	Inspector string // text of the inspector's settings, indented by two
}

// A House is a gateway on its data folder with one scripted server behind it.
type House struct {
	Way  Way
	Up   *mcptest.Upstream
	Dir  string // of configuration and rule file
	Data string
	// Admin is where /readyz of up is.
	Admin string

	t      testing.TB
	opt    Options
	listen string
	url    string
	up     *process
}

// BinEnv names a binary to use in the place of one that is built.
const BinEnv = "PRATIQUE_BIN"

// bins builds the binary, once in a test binary.
var bins = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv(BinEnv); bin != "" {
		return bin, nil
	}
	dir, err := os.MkdirTemp("", "pratique-stage-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "pratique")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/pratique-dev/pratique/cmd/pratique").CombinedOutput()
	if err != nil {
		return "", errors.Join(fmt.Errorf("building: %w: %s", err, out), os.RemoveAll(dir))
	}
	return bin, nil
})

// Main runs the tests of a package that uses a stage, and takes the built binary
// away after them. It is what TestMain does.
func Main(m *testing.M) {
	mcptest.Main() // before flags: it may be the server
	code := m.Run()
	if bin, err := bins(); err == nil && os.Getenv(BinEnv) == "" {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// Bin is the path of the built binary.
func Bin(t testing.TB) string {
	t.Helper()
	bin, err := bins()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// New is a house. On the ways of up the gateway runs when it returns.
func New(t testing.TB, w Way, s mcptest.Script, o Options) *House {
	t.Helper()
	h := Make(t, w, s, o)
	if !w.Guarded() {
		h.Start()
	}
	return h
}

// Make is a house in which nothing runs yet.
func Make(t testing.TB, w Way, s mcptest.Script, o Options) *House {
	t.Helper()
	h := &House{Way: w, t: t, opt: o, Dir: t.TempDir(), listen: "127.0.0.1:0"}
	h.Data = filepath.Join(h.Dir, "data")
	if !w.Guarded() {
		h.listen = mcptest.Address(t) // the same at each start, since credentials name it
	}
	if w.Remote() {
		h.Up = mcptest.NewHTTP(t, s)
	} else {
		h.Up = mcptest.NewStdio(t, s)
	}
	h.Configure(o)
	return h
}

// Configure writes the configuration, for the next start.
func (h *House) Configure(o Options) {
	h.t.Helper()
	h.opt = o
	var b strings.Builder
	fmt.Fprintf(&b, "data: %q\nlisten: %q\n", h.Data, h.listen)
	if o.Profile != "" {
		fmt.Fprintf(&b, "profile: %s\n", o.Profile)
	}
	if o.Rules != "" {
		h.WriteRules(o.Rules)
		fmt.Fprintf(&b, "policy: %q\n", h.RulesFile())
	}
	b.WriteString("gateway:\n  retention: 1h\n")
	if o.Freshness != "" {
		fmt.Fprintf(&b, "  freshness: %s\n", o.Freshness)
	}
	fmt.Fprintf(&b, "  wait: %s\n", or(o.Wait, "1m")) // since a machine may do a hundred other things
	if o.Grace != "" {
		fmt.Fprintf(&b, "  grace: %s\n", o.Grace)
	}
	if o.Inspector != "" {
		fmt.Fprintf(&b, "inspector:\n%s\n", o.Inspector)
	}
	b.WriteString("upstreams:\n- name: fixture\n")
	if h.Way.Remote() {
		fmt.Fprintf(&b, "  url: %q\n", h.Up.URL)
	} else {
		b.WriteString("  command:\n")
		for _, a := range h.Up.Command() {
			fmt.Fprintf(&b, "  - %q\n", a)
		}
	}
	h.write(h.configFile(), b.String())
}

// RulesFile is the path of the rule file.
func (h *House) RulesFile() string { return filepath.Join(h.Dir, "rules.yaml") }

// WriteRules writes the rule file anew, in one step.
func (h *House) WriteRules(text string) {
	h.t.Helper()
	h.write(h.RulesFile(), text)
}

func (h *House) configFile() string { return filepath.Join(h.Dir, "pratique.yaml") }

func (h *House) write(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		h.t.Fatal(err)
	}
}

// Argv is what starts the gateway: of guard, with the server behind it.
func (h *House) Argv() []string {
	if !h.Way.Guarded() {
		return []string{Bin(h.t), "up", "--config", h.configFile(), "--json", "--log-level", "warn"}
	}
	argv := []string{Bin(h.t), "guard", "--config", h.configFile(), "--data", h.Data, "--name", "fixture"}
	if h.Way.Remote() {
		return append(argv, "--url", h.Up.URL)
	}
	return append(append(argv, "--"), h.Up.Command()...)
}

// Agent is one more agent, not started: a launch of guard, or a client of up under
// the credential that up printed.
func (h *House) Agent(revision string) *mcptest.Agent {
	h.t.Helper()
	if h.Way.Guarded() {
		return mcptest.StartStdio(h.t, revision, h.Argv()...)
	}
	return mcptest.DialHTTP(h.t, revision, h.url)
}

// Other is an agent under a credential of its own, of up only.
func (h *House) Other(revision, name string) *mcptest.Agent {
	h.t.Helper()
	return mcptest.DialHTTP(h.t, revision, h.Credential(name))
}

// Credential makes an agent and gives the URL that it uses.
func (h *House) Credential(name string) string {
	h.t.Helper()
	var made struct {
		Credential string `json:"credential"`
	}
	u, err := url.Parse(h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	h.JSON(&made, "agents", "new", "--name", name, "--profile", or(h.opt.Profile, "personal"),
		"--registry", "http://"+u.Host, "--key", filepath.Join(h.Data, "operator.jwk"))
	if made.Credential == "" {
		h.t.Fatal("agents new gave no credential")
	}
	u.Path = "/mcp/" + made.Credential
	return u.String()
}

// URL is where agents reach up, credential included.
func (h *House) URL() string { return h.url }

// Start starts up and waits until it answers.
func (h *House) Start() {
	h.t.Helper()
	line, p, err := start(h.t, h.Argv())
	if err != nil {
		h.t.Fatal(err)
	}
	var said struct {
		Gateway string `json:"gateway"`
		Admin   string `json:"admin"`
	}
	if err := json.Unmarshal(line, &said); err != nil || said.Gateway == "" {
		h.t.Fatalf("up printed no gateway: %v: %s", err, p.stderr.String())
	}
	h.url, h.up, h.Admin = said.Gateway, p, said.Admin
}

// Stop ends up with SIGTERM, as an operator does.
func (h *House) Stop() {
	h.t.Helper()
	if h.up == nil {
		return
	}
	if err := h.up.stop(); err != nil {
		h.t.Errorf("up: %v: %s", err, h.up.stderr.String())
	}
	h.up = nil
}

// Restart starts the gateway anew on its folder. Agents of guard are launches of
// their own, so those the test closes itself.
func (h *House) Restart() {
	h.t.Helper()
	if !h.Way.Guarded() {
		h.Stop()
		h.Start()
	}
}

// Stderr is the end of what up wrote for people.
func (h *House) Stderr() string {
	if h.up == nil {
		return ""
	}
	return h.up.stderr.String()
}

// WaitStderr waits until up, or the guard of the agent, has written a text for people.
func (h *House) WaitStderr(a *mcptest.Agent, text string) {
	h.t.Helper()
	if h.Way.Guarded() {
		a.WaitStderr(text)
		return
	}
	h.up.stderr.Wait(h.t, text)
}

// Run runs the binary to its end.
func (h *House) Run(args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(Bin(h.t), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// JSON runs the binary, which must end well, and reads its answer.
func (h *House) JSON(v any, args ...string) {
	h.t.Helper()
	out, errs, code := h.Run(append(args, "--json")...)
	if code != 0 {
		h.t.Fatalf("pratique %s: exit code %d: %s", strings.Join(args, " "), code, errs)
	}
	if err := json.Unmarshal([]byte(out), v); err != nil {
		h.t.Fatalf("pratique %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// A process is a running up.
type process struct {
	cmd    *exec.Cmd
	stderr *mcptest.Tail
	done   chan error
}

// start starts a process and waits for the first line of its output.
func start(t testing.TB, argv []string) ([]byte, *process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	p := &process{cmd: cmd, stderr: new(mcptest.Tail), done: make(chan error, 1)}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { _ = p.stop() })
	line, err := bufio.NewReader(stdout).ReadBytes('\n') // ends with the process at the latest
	go func() { p.done <- cmd.Wait() }()
	if err != nil {
		_ = p.stop()
		return nil, nil, fmt.Errorf("%s ended at its start: %s", filepath.Base(argv[0]), p.stderr.String())
	}
	return line, p, nil
}

// stop asks the process to end, and kills one that does not.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.done:
		p.done <- nil
		return err
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
		p.done <- nil
		return errors.New("it had to be killed")
	}
}
