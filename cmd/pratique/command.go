package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// A noun is one command with its verbs; a noun that is its own verb (up,
// backup) has exactly one, without a name.
type noun struct {
	name  string
	usage string
	verbs []verb
}

// A verb is one thing to do. It never prints: what it returns is shown.
type verb struct {
	name  string
	usage string // one line
	about string // more, for help and docs
	args  string // the one positional argument that it takes; "": none
	rest  string // what stands after "--" as it is, in the place of args; "": nothing may
	tail  string // what may stand after args and "--" as it is; "": nothing may
	flags []*option
	out   any // zero value of what run returns, for the docs; nil: prints no struct
	run   func(*call) (any, error)
}

// A kind is what a flag's value may be.
type kind int

const (
	text     kind = iota // any text but the empty one
	toggle               // no value: there or not
	number               // unsigned
	duration             // as time.ParseDuration reads it, not negative
	many                 // text, repeatable
)

// An option is one flag of one run. It is a cli.Flag of our own, since cli's
// take the last of two values without a word.
type option struct {
	name     string
	arg      string // what the value is called in help
	usage    string
	kind     kind
	required bool
	def      string // shown and used where the flag is absent
	vals     []string
}

var errTwice = errors.New("given twice")

// Set implements flag.Value.
func (o *option) Set(s string) error {
	if len(o.vals) > 0 && o.kind != many {
		return errTwice
	}
	var err error
	switch o.kind {
	case toggle:
		_, err = strconv.ParseBool(s)
	case number:
		_, err = strconv.ParseUint(s, 10, 63)
	case duration:
		var d time.Duration
		if d, err = time.ParseDuration(s); err == nil && d < 0 {
			err = errors.New("negative")
		}
	default:
		if s == "" {
			err = errors.New("empty")
		}
	}
	if err != nil {
		if ne, ok := errors.AsType[*strconv.NumError](err); ok {
			err = ne.Err
		}
		return err
	}
	o.vals = append(o.vals, s)
	return nil
}

// String implements flag.Value and cli.Flag: the line of help.
func (o *option) String() string {
	if o == nil {
		return ""
	}
	return "--" + strings.TrimSpace(o.name+" "+o.arg) + "\t" + o.usage + o.terms()
}

// terms are what a person must know of a flag beside what it does.
func (o *option) terms() string {
	switch {
	case o.required && o.kind == many:
		return " (required, repeatable)"
	case o.required:
		return " (required)"
	case o.kind == many:
		return " (repeatable)"
	case o.def != "":
		return " (default: " + o.def + ")"
	}
	return ""
}

// IsBoolFlag has package flag take a toggle without a value.
func (o *option) IsBoolFlag() bool { return o.kind == toggle }

// Apply implements cli.Flag.
func (o *option) Apply(set *flag.FlagSet) error { set.Var(o, o.name, o.usage); return nil }

// Names implements cli.Flag.
func (o *option) Names() []string { return []string{o.name} }

// IsSet implements cli.Flag.
func (o *option) IsSet() bool { return len(o.vals) > 0 }

// The rest implements cli.DocGenerationFlag and cli.VisibleFlag.
func (o *option) TakesValue() bool       { return o.kind != toggle }
func (o *option) GetValue() string       { return "" }
func (o *option) GetEnvVars() []string   { return nil }
func (o *option) IsVisible() bool        { return true }
func (o *option) GetDefaultText() string { return o.def }
func (o *option) GetUsage() string       { return o.usage }

// A call is one run of a verb.
type call struct {
	context.Context
	*env
	json  bool
	name  string // "tools register"
	args  []string
	rest  bool // args stood after "--"
	tail  []string
	flags map[string]*option
}

// has, str and their kin read a flag; one that the verb does not have is one
// that was not given, so that verbs can share what reads flags.
func (c *call) has(name string) bool { return c.flags[name] != nil && c.flags[name].IsSet() }

func (c *call) str(name string) string {
	o := c.flags[name]
	if o == nil {
		return ""
	}
	if len(o.vals) > 0 {
		return o.vals[0]
	}
	return o.def
}

func (c *call) strs(name string) []string {
	if o := c.flags[name]; o != nil {
		return slices.Clone(o.vals)
	}
	return nil
}

func (c *call) is(name string) bool {
	b, _ := strconv.ParseBool(c.str(name))
	return b
}

func (c *call) num(name string) uint64 {
	n, _ := strconv.ParseUint(c.str(name), 10, 63)
	return n
}

func (c *call) span(name string) time.Duration {
	d, _ := time.ParseDuration(c.str(name))
	return d
}

// note tells the person something that is not the answer.
func (c *call) note(format string, args ...any) {
	fmt.Fprintln(c.err, plain(fmt.Sprintf(format, args...)))
}

// sure asks before something that cannot be taken back. Without a terminal it
// refuses unless --yes was given.
func (c *call) sure(question string) error {
	if c.is("yes") {
		return nil
	}
	if !c.terminal {
		return errUnsure
	}
	ok, err := c.ask(plain(question))
	if err == nil && !ok {
		err = errNo
	}
	return err
}

// sureIfPerson is sure for what scripts do without a terminal too.
func (c *call) sureIfPerson(question string) error {
	if !c.terminal || c.json {
		return nil
	}
	return c.sure(question)
}

var jsonFlag = option{name: "json", kind: toggle, usage: "print exactly one JSON object on stdout"}

func (n noun) command(e *env) *cli.Command {
	if len(n.verbs) == 1 && n.verbs[0].name == "" {
		return n.verbs[0].command(e, n.name, n.name)
	}
	c := &cli.Command{Name: n.name, Usage: n.usage, HideHelpCommand: true, OnUsageError: usageError(n.name), Action: unknownCommand(e)}
	for _, v := range n.verbs {
		c.Subcommands = append(c.Subcommands, v.command(e, v.name, n.name+" "+v.name))
	}
	return c
}

// allFlags are the verb's own and --json.
func (v verb) allFlags() []*option {
	flags := slices.Clone(v.flags)
	if v.out != nil {
		j := jsonFlag
		flags = append(flags, &j)
	}
	return flags
}

func (v verb) command(e *env, name, full string) *cli.Command {
	flags := v.allFlags()
	c := &cli.Command{
		Name: name, Usage: v.usage, Description: v.about, HideHelpCommand: true,
		UsageText: strings.TrimSpace("pratique " + full + " [FLAGS] " + v.operands()), OnUsageError: usageError(full),
	}
	byName := map[string]*option{}
	for _, o := range flags {
		c.Flags = append(c.Flags, o)
		byName[o.name] = o
	}
	c.Action = func(cc *cli.Context) error {
		k := &call{Context: cc.Context, env: e, name: full, args: cc.Args().Slice(), flags: byName}
		k.rest = v.rest != "" && e.dashed(len(k.args))
		if i := slices.Index(k.args, "--"); v.tail != "" && i >= 0 {
			k.args, k.tail = k.args[:i], k.args[i+1:]
		}
		if err := v.check(k, flags); err != nil {
			return &failed{full, err}
		}
		k.json = v.out != nil && k.is("json")
		out, err := v.run(k)
		if out != nil {
			err = errors.Join(err, k.show(out))
		}
		if err != nil {
			return &failed{full, err}
		}
		return nil
	}
	return c
}

// operands are what stands after the flags, for help.
func (v verb) operands() string {
	if v.args != "" && v.rest != "" {
		return v.args + " | " + v.rest
	}
	if v.tail != "" {
		return v.args + " [-- " + v.tail + "]"
	}
	return v.args + v.rest
}

// dashed tells whether "--" stood before the last n words of the command line,
// which cli does not say.
func (e *env) dashed(n int) bool {
	i := len(e.argv) - n - 1
	return n > 0 && i > 0 && e.argv[i] == "--"
}

// check refuses what cli lets pass: positional arguments that nobody reads,
// flags that stand after one, and required flags that are not there.
func (v verb) check(k *call, flags []*option) error {
	for _, a := range k.args {
		if !k.rest && strings.HasPrefix(a, "-") && a != "-" {
			return usagef("flag %s stands after an argument; flags go first", strings.SplitN(a, "=", 2)[0])
		}
	}
	want := 0
	if v.args != "" {
		want = 1
	}
	if len(k.args) > want && !k.rest {
		if v.rest != "" {
			return usagef("argument %q is one too many; a command stands after --", k.args[want])
		}
		return usagef("argument %q is one too many", k.args[want])
	}
	var missing []string
	for _, o := range flags {
		if o.required && !o.IsSet() {
			missing = append(missing, "--"+o.name)
		}
	}
	if want > len(k.args) {
		missing = append(missing, v.args)
	}
	if len(missing) > 0 {
		return usagef("%s missing", strings.Join(missing, ", "))
	}
	return nil
}

// usageError names what cli found wrong with the flags of a command.
func usageError(name string) cli.OnUsageErrorFunc {
	return func(_ *cli.Context, err error, _ bool) error { return &failed{name, &usage{err.Error()}} }
}

// exactlyOne refuses anything but one of these flags.
func (c *call) exactlyOne(names ...string) (string, error) {
	found := ""
	for _, n := range names {
		switch {
		case !c.has(n):
		case found != "":
			return "", usagef("--%s and --%s exclude each other", found, n)
		default:
			found = n
		}
	}
	if found == "" {
		return "", usagef("one of --%s is needed", strings.Join(names, ", --"))
	}
	return found, nil
}

// A shower prints itself for people. What cannot is printed as JSON, indented.
type shower interface{ show(w io.Writer) }
