package baseline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/credentials"
)

// Pin resolves and hashes what the command starts: the executable found the way
// that the system finds it, the interpreter that a "#!" line names, and the
// script that an interpreter is given. What these load in turn is not pinned.
func (s *Store) Pin(ctx context.Context, c Command) (*Launch, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, fmt.Errorf("%w: none was given", ErrCommand)
	}
	dir, err := c.folder()
	if err != nil {
		return nil, err
	}
	l := &Launch{Args: slices.Clone(c.Argv[1:]), Folder: dir, Env: []string{}, Values: map[string]credentials.Digest{}}
	if l.Args == nil {
		l.Args = []string{}
	}
	found, err := find(c.Argv[0], dir, pathOf(c.Env))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCommand, err)
	}
	l.Path, l.Script = found, ""
	if real, err := filepath.EvalSymlinks(found); err == nil {
		l.Path = real
	}
	names := []string{program(c.Argv[0]), program(l.Path)}
	if interpreter := shebang(l.Path, dir, pathOf(c.Env)); interpreter != "" {
		l.Script, l.Path = l.Path, interpreter
	} else if interpreters[names[0]] || interpreters[names[1]] {
		l.Script = script(names, c.Argv[1:], dir)
	}
	l.Unpinned = fetches(names, c.Argv[1:])
	if l.Executable, err = s.code.sum(ctx, l.Path); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCommand, err)
	}
	if l.Script != "" {
		if l.ScriptSum, err = s.code.sum(ctx, l.Script); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCommand, err)
		}
	}
	s.pinEnv(l, c.Env)
	if l.JSON() == nil {
		return nil, fmt.Errorf("%w: an argument, a path or the name of a variable is not valid UTF-8", ErrCommand)
	}
	return l, nil
}

// Resolve is the path of the executable that Pin hashed, before symbolic links
// were followed: some programs look at the name they are called by. Whoever
// starts the command starts this.
func Resolve(c Command) (string, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", fmt.Errorf("%w: none was given", ErrCommand)
	}
	dir, err := c.folder()
	if err != nil {
		return "", err
	}
	found, err := find(c.Argv[0], dir, pathOf(c.Env))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrCommand, err)
	}
	return found, nil
}

func (s *Store) pinEnv(l *Launch, env []string) {
	for _, e := range env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" || ambient(name) {
			continue
		}
		l.Env = append(l.Env, name)
		if chooses(name) {
			l.Values[name] = s.keyed("pratique/launch-value/v1", name, value)
		}
	}
	slices.Sort(l.Env)
	l.Env = slices.Compact(l.Env)
}

func pathOf(env []string) string {
	value := ""
	for _, e := range env { // the last one counts
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			value = v
		}
	}
	return value
}

// find is exec.LookPath for another folder and another PATH. Unlike a shell it
// does not look in the folder itself, whatever PATH says.
func find(name, dir, searchPath string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) || strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	for _, p := range filepath.SplitList(searchPath) {
		if !filepath.IsAbs(p) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(p, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%w: %s", exec.ErrNotFound, Visible(name))
}

// shebang is the resolved interpreter that the first line of a script names, ""
// for other files.
func shebang(file, dir, searchPath string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	if !strings.HasPrefix(line, "#!") || err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	words := strings.Fields(line[2:])
	if len(words) == 0 {
		return ""
	}
	name := words[0]
	if program(name) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
		if len(words) == 0 {
			return ""
		}
		name = words[0]
	}
	found, err := find(name, dir, searchPath)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(found); err == nil {
		return real
	}
	return found
}

// takesValue are flags of interpreters whose value is the next argument, so that
// it is no script. code are those after which there is no script file at all.
var (
	takesValue = map[string]bool{"-r": true, "--require": true, "--import": true, "--loader": true, "--experimental-loader": true, "-C": true,
		"--conditions": true, "--env-file": true, "-W": true, "-X": true, "-I": true}
	code = map[string]bool{"-e": true, "--eval": true, "-p": true, "--print": true, "-c": true, "-m": true, "-pe": true}
)

// script is the file that an interpreter is told to run, "" where it is given
// none, or none that is there.
func script(names, args []string, dir string) string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case code[a]:
			return ""
		case takesValue[a]:
			i++
			continue
		case strings.HasPrefix(a, "-"), subcommands[a] && !interpretersOnly(names):
			continue
		}
		if !filepath.IsAbs(a) {
			a = filepath.Join(dir, a)
		}
		real, err := filepath.EvalSymlinks(a)
		if st, e := os.Stat(a); err != nil || e != nil || !st.Mode().IsRegular() {
			return ""
		}
		return real
	}
	return ""
}

func interpretersOnly(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return launchers[n] })
}

var versioned = regexp.MustCompile(`^(node|nodejs|python|pypy|ruby|perl|php|java)[0-9.]+$`)

// program is the bare name of a program: python3.12 is python, NPX.CMD is npx.
func program(name string) string {
	base := filepath.Base(filepath.FromSlash(name))
	if runtime.GOOS == "windows" {
		base = strings.ToLower(base)
	}
	for _, ext := range []string{".exe", ".cmd", ".bat", ".js", ".mjs", ".cjs"} {
		base = strings.TrimSuffix(base, ext)
	}
	base = strings.TrimSuffix(base, "-cli") // npx-cli.js is what npx links to
	if m := versioned.FindStringSubmatch(base); m != nil {
		return m[1]
	}
	return base
}
