// Command pratique is the one binary of Pratique: it runs a registry, speaks to
// one as registrant or operator, and verifies labels and logs.
//
// There is a file per noun. A verb parses its flags, calls one thing, and
// returns one output struct; --json prints exactly that struct on stdout, and
// everything else goes to stderr. Exit codes are a table (exit.go). This is the
// only package that knows urfave/cli, whose traps command.go guards against.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/pratique-dev/pratique/quarantine/warden"
)

// env is the world that a command sees.
type env struct {
	in       io.Reader
	out      io.Writer
	err      io.Writer
	terminal bool // whether a person sits at both in and err
	errTTY   bool // whether err is a terminal: progress is shown there
	now      func() time.Time
	argv     []string // the command line as it was given
	ask      func(question string) (bool, error)
}

func main() {
	warden.Hook() // a child of the inspector goes no further
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, systemEnv(), os.Args)
	stop()
	os.Exit(code)
}

func systemEnv() *env {
	e := &env{in: os.Stdin, out: os.Stdout, err: os.Stderr, now: time.Now}
	e.errTTY = term.IsTerminal(int(os.Stderr.Fd()))
	e.terminal = e.errTTY && term.IsTerminal(int(os.Stdin.Fd()))
	e.ask = e.askPerson
	return e
}

// run is main without its process: it returns the exit code.
func run(ctx context.Context, e *env, args []string) int {
	e.argv = args
	return e.report(newApp(e).RunContext(ctx, args))
}

// nouns are the commands in the order in which help shows them.
func nouns() []noun {
	return []noun{
		guardNoun(), scanNoun(), upNoun(), surfaceNoun(), quarantineNoun(), effectsNoun(), principalsNoun(), toolsNoun(), labelsNoun(), topologyNoun(), agentsNoun(), policyNoun(), intentNoun(), runsNoun(), keysNoun(),
		ledgerNoun(), replayNoun(), evalNoun(), backupNoun(), restoreNoun(), doctorNoun(), completionNoun(), versionNoun(),
	}
}

func newApp(e *env) *cli.App {
	app := &cli.App{
		Name:                      "pratique",
		HelpName:                  "pratique",
		Usage:                     "registry and labels of agent tools: only the registrant changes a tool",
		UsageText:                 "pratique COMMAND [VERB] [FLAGS]",
		Writer:                    e.out,
		ErrWriter:                 e.err,
		Reader:                    e.in,
		HideVersion:               true,
		HideHelpCommand:           true,
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,
		OnUsageError:              usageError(""),
		// The default prints and exits on its own; run decides.
		ExitErrHandler: func(*cli.Context, error) {},
		Action:         unknownCommand(e),
	}
	for _, n := range nouns() {
		app.Commands = append(app.Commands, n.command(e))
	}
	return app
}

// unknownCommand is what runs where a noun or verb was expected and none that
// is known came.
func unknownCommand(e *env) cli.ActionFunc {
	return func(c *cli.Context) error {
		name := c.Command.HelpName
		if name == "" {
			name = c.App.Name
		}
		if first := c.Args().First(); first != "" {
			return usagef("%s has no command %q; see %s --help", name, first, name)
		}
		c.App.Writer = e.err
		defer func() { c.App.Writer = e.out }()
		if c.App.Name == name {
			_ = cli.ShowAppHelp(c)
		} else {
			_ = cli.ShowSubcommandHelp(c)
		}
		return usagef("%s wants a command", name)
	}
}

// askPerson asks on the terminal. Only "yes" is yes.
func (e *env) askPerson(question string) (bool, error) {
	fmt.Fprintf(e.err, "%s [yes/no] ", question)
	var answer string
	if _, err := fmt.Fscanln(e.in, &answer); err != nil && err != io.EOF {
		return false, nil
	}
	return answer == "yes", nil
}
