package baseline_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// A bench is a folder with a program, an interpreter and a script.
type bench struct {
	t     *testing.T
	dir   string
	store *baseline.Store
}

func newBench(t *testing.T) *bench {
	if runtime.GOOS == "windows" {
		t.Skip("programs are made with #! lines")
	}
	b := &bench{t: t, dir: t.TempDir(), store: baseline.NewMemory(baseline.Options{})}
	real, err := filepath.EvalSymlinks(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	b.dir = real
	for _, p := range []string{"bin", "other", "work"} {
		os.Mkdir(filepath.Join(b.dir, p), 0o755)
	}
	b.write("bin/node", "the interpreter")
	b.write("bin/npx-real", "#!/usr/bin/env node\nnpx")
	os.Symlink("npx-real", filepath.Join(b.dir, "bin/npx"))
	b.write("bin/server", "the program")
	b.write("work/server.js", "the script")
	return b
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) command(argv ...string) baseline.Command {
	return baseline.Command{Argv: argv, Dir: filepath.Join(b.dir, "work"), Env: []string{"PATH=" + filepath.Join(b.dir, "bin")}}
}

func (b *bench) pin(c baseline.Command) *baseline.Launch {
	b.t.Helper()
	l, err := b.store.Pin(b.t.Context(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// TestLaunchPin: each thing that RULES.md 36 names changes the pin, and nothing
// else does.
func TestLaunchPin(t *testing.T) {
	b := newBench(t)
	base := func() baseline.Command {
		c := b.command("node", "server.js", "--port", "0")
		c.Env = append(c.Env, "API_URL=https://a.example", "API_TOKEN=one", "TERM=xterm")
		return c
	}
	first := b.pin(base())
	if first.Script != filepath.Join(b.dir, "work/server.js") || first.Path != filepath.Join(b.dir, "bin/node") || first.Unpinned {
		t.Fatalf("%+v", first)
	}
	if again := b.pin(base()); !again.Equal(first) || again.Digest() != first.Digest() {
		t.Fatal("the same launch has two pins")
	}
	same := map[string]func(*baseline.Command){
		"a token's value": func(c *baseline.Command) { c.Env[2] = "API_TOKEN=two" },
		"the terminal":    func(c *baseline.Command) { c.Env[3] = "TERM=vt100" },
		"order":           func(c *baseline.Command) { slices.Reverse(c.Env) },
	}
	other := map[string]func(*baseline.Command){
		"an argument": func(c *baseline.Command) { c.Argv[3] = "1" },
		"the folder": func(c *baseline.Command) {
			c.Dir, c.Argv[1] = filepath.Join(b.dir, "other"), filepath.Join(b.dir, "work/server.js")
		},
		"a new variable":    func(c *baseline.Command) { c.Env = append(c.Env, "EXTRA=1") },
		"one variable less": func(c *baseline.Command) { c.Env = c.Env[:2] },
		"the endpoint":      func(c *baseline.Command) { c.Env[1] = "API_URL=https://b.example" },
		"preloaded code":    func(c *baseline.Command) { c.Env = append(c.Env, "NODE_OPTIONS=--require x.js") },
	}
	for name, change := range same {
		c := base()
		change(&c)
		if !b.pin(c).Equal(first) {
			t.Errorf("%s changes the pin", name)
		}
	}
	for name, change := range other {
		c := base()
		change(&c)
		if l := b.pin(c); l.Equal(first) || l.Digest() == first.Digest() {
			t.Errorf("%s does not change the pin", name)
		}
	}
	for _, file := range []string{"bin/node", "work/server.js"} {
		old, _ := os.ReadFile(filepath.Join(b.dir, file))
		b.write(file, "something else")
		if b.pin(base()).Equal(first) {
			t.Errorf("other bytes of %s do not change the pin", file)
		}
		b.write(file, string(old))
	}
	if !b.pin(base()).Equal(first) {
		t.Error("put back, and another pin")
	}
}

// TestLaunchSecrets: a pin that somebody reads holds no value of a variable, and
// two folders have different digests of one value.
func TestLaunchSecrets(t *testing.T) {
	b := newBench(t)
	c := b.command("server")
	c.Env = append(c.Env, "API_URL=https://user:pass@a.example")
	x := b.pin(c)
	b.store = baseline.NewMemory(baseline.Options{})
	if y := b.pin(c); x.Values["API_URL"] == y.Values["API_URL"] || len(x.Values) != 1 {
		t.Error("the digest of a value is not keyed")
	}
}

// TestLaunchInterpreter: what a "#!" line names is the executable.
func TestLaunchInterpreter(t *testing.T) {
	b := newBench(t)
	l := b.pin(b.command("npx", "-y", "server"))
	if l.Path != filepath.Join(b.dir, "bin/node") || l.Script != filepath.Join(b.dir, "bin/npx-real") || !l.Unpinned {
		t.Errorf("%+v", l)
	}
	for _, bad := range [][]string{nil, {""}, {"no-such-program"}, {"./no-such-program"}, {"work"}} {
		if _, err := b.store.Pin(t.Context(), b.command(bad...)); err == nil {
			t.Errorf("%q was pinned", bad)
		}
	}
	if p, err := baseline.Resolve(b.command("npx")); err != nil || p != filepath.Join(b.dir, "bin/npx") {
		t.Errorf("started would be %s, %v", p, err)
	}
}

// TestLaunchUnpinned: what fetches code without version and integrity is shown
// as such; what does not is not.
func TestLaunchUnpinned(t *testing.T) {
	b := newBench(t)
	for _, p := range []string{"uvx", "uv", "docker", "bash", "env", "npm", "pnpm", "pipx", "go", "deno", "bunx", "python3.12", "curl"} {
		b.write("bin/"+p, "x")
	}
	sum := strings.Repeat("a", 64)
	for line, want := range map[string]bool{
		"npx -y server": true, "npx server@1.2.3": true, "npx --no-install server": false, "uvx server": true, "uv run server.py": true,
		"uv tool run x": true, "docker run -i image": true, "docker run -i image:1.2": true, "docker run -i image@sha256:" + sum: false,
		"docker run -i image@sha256:abc": true, "npm exec server": true, "npm x server": true, "npm start": false, "pnpm dlx server": true,
		"pipx run server": true, "go run example.com/x@latest": true, "go run ./x": false, "deno run npm:x": true, "deno run main.ts": false,
		"bunx x": true, "python3.12 server.py": false, "server --x": false, "env A=b npx -y x": true, "env A=b server": false,
		"bash -c npx\u00a0-y": false, "curl https://x": true, "node server.js": false,
	} {
		if got := b.pin(b.command(strings.Split(line, " ")...)).Unpinned; got != want {
			t.Errorf("%s: unpinned %t", line, got)
		}
	}
	if !b.pin(b.command("bash", "-c", "cd /x && npx -y server")).Unpinned {
		t.Error("a shell that runs npx is pinned")
	}
}

// TestLaunchPlace: the same line is the same place at every start, another line
// another one; with a name it is the name's, whatever the line.
func TestLaunchPlace(t *testing.T) {
	b := newBench(t)
	place := func(name string, c baseline.Command) string {
		t.Helper()
		o, err := b.store.Place(name, c)
		if err != nil {
			t.Fatal(err)
		}
		return o.String()
	}
	x := b.command("npx", "-y", "@zereight/mcp-gitlab@2")
	if p := place("", x); p != place("", x) || !strings.HasPrefix(p, "stdio:mcp-gitlab@") {
		t.Errorf("%s", p)
	}
	y := b.command("npx", "-y", "@zereight/mcp-gitlab@2", "--token=secret")
	if place("", x) == place("", y) || strings.Contains(place("", y), "secret") {
		t.Error("another line is the same place")
	}
	if place("git", x) != "stdio:git" || place("git", y) != "stdio:git" {
		t.Error("a name is not the place")
	}
	if _, err := b.store.Place("a b", x); err == nil {
		t.Error("a name with a blank")
	}
	if p := place("", b.command("/x/my server.exe")); !strings.HasPrefix(p, "stdio:my-server.exe@") {
		t.Error(p)
	}
}

func TestShortName(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y @zereight/mcp-gitlab": "mcp-gitlab", "npx -y x@1.2": "x", "node /a/node_modules/@z/mcp-gitlab/build/index.js": "mcp-gitlab",
		"node index.js": "index.js", "uvx tool run mcp-x": "mcp-x", "/usr/bin/mcp-server": "mcp-server", "python3 -m": "python3", "\u202e": "server", "": "server",
	} {
		if got := baseline.ShortName(strings.Fields(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestLaunchStanding: RULES.md 19 and 36.
func TestLaunchStanding(t *testing.T) {
	k := newKit(t)
	pinned := &baseline.Launch{Path: "/bin/x", Args: []string{}, Env: []string{}}
	other := &baseline.Launch{Path: "/bin/y", Args: []string{}, Env: []string{}}
	loose := &baseline.Launch{Path: "/bin/npx", Args: []string{}, Env: []string{}, Unpinned: true}
	want := func(what string, l *baseline.Launch, s labels.Standing) {
		t.Helper()
		if got := k.get().LaunchStanding(l); got != s {
			t.Errorf("%s: %v, want %v", what, got, s)
		}
	}
	accept := func() error {
		act, err := k.store.SignLaunch(k.signer(k.key), k.get(), false)
		if err != nil {
			return err
		}
		_, err = k.store.Update(t.Context(), place, func(d *baseline.Draft) error { return d.AcceptLaunch(act) })
		return err
	}
	see := func(l *baseline.Launch) {
		k.update(func(d *baseline.Draft) error { d.PinLaunch(l); return nil })
	}
	want("an endpoint", nil, labels.Pinned)
	want("before first sight", pinned, labels.Pinned)
	want("unpinned code, before", loose, labels.Unknown)
	see(pinned)
	want("the pinned one", pinned, labels.Pinned)
	want("another", other, labels.Vetoed)
	want("no launch where one was", nil, labels.Vetoed)
	if err := accept(); err == nil {
		t.Error("accepted what nobody saw")
	}
	see(other)
	want("another, seen", other, labels.Vetoed)
	see(pinned)
	if k.get().NextLaunch() != nil {
		t.Error("still waiting, though the launch is the pinned one again")
	}
	see(other)
	if err := accept(); err != nil {
		t.Fatal(err)
	}
	want("accepted", other, labels.Pinned)
	want("the former", pinned, labels.Vetoed)
	see(loose)
	if err := accept(); err != nil {
		t.Fatal(err)
	}
	want("unpinned code, accepted", loose, labels.Pinned)
}

// TestLaunchUnpinnedAtFirstSight: its origin stays unknown until the operator
// accepts that it fetches its code.
func TestLaunchUnpinnedAtFirstSight(t *testing.T) {
	k := newKit(t)
	loose := &baseline.Launch{Path: "/bin/npx", Args: []string{}, Env: []string{}, Unpinned: true}
	b := k.update(func(d *baseline.Draft) error { d.PinLaunch(loose); return nil })
	if b.LaunchStanding(loose) != labels.Unknown {
		t.Fatal("known at first sight")
	}
	act, err := k.store.SignLaunch(k.signer(k.key), b, false)
	if err != nil {
		t.Fatal(err)
	}
	b = k.update(func(d *baseline.Draft) error { return d.AcceptLaunch(act) })
	if b.LaunchStanding(loose) != labels.Pinned {
		t.Error("accepted, and still unknown")
	}
	if _, err := k.store.SignLaunch(k.signer(k.key), b, false); err == nil {
		t.Error("there is something left to accept")
	}
}
