package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/go-json-experiment/json"
)

// tee is the first argument of a program that stands before a server.
const tee = "launch-tee"

// Teed is the server behind a copy of this program that writes all that goes into
// the server to a file.
func (s Server) Teed(file string) (Server, error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	return Server{Argv: append([]string{self, tee, file}, s.Argv...), Env: s.Env}, nil
}

// Main is what a program that uses Teed calls first: where it is the copy before a
// server it runs that server and does not return.
func Main() {
	if len(os.Args) < 4 || os.Args[1] != tee {
		return
	}
	code, err := between(os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "tee:", err)
	}
	os.Exit(code)
}

func between(file string, argv []string) (int, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 1, err
	}
	defer f.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	go func() {
		_, _ = io.Copy(io.MultiWriter(f, in), os.Stdin) // either end may go first
		_ = in.Close()
	}()
	err = cmd.Wait()
	return cmd.ProcessState.ExitCode(), err
}

// Heard is the names of the tools that a server was called for, as the file of Teed
// has them.
func Heard(file string) ([]string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range bytes.Lines(raw) {
		var f struct {
			Method string `json:"method"`
			Params struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &f) == nil && f.Method == "tools/call" {
			names = append(names, f.Params.Name)
		}
	}
	return names, nil
}
