package content

import (
	"strings"
)

// A shellState is what the commands of one file said so far.
type shellState struct {
	tainted map[string]bool // variables that were made from secrets
	server  map[string]bool // names of the server's own addresses that were changed
	trace   bool
	values  map[string]string // of variables that were set to a plain text
	from    int               // of the tracing command
	to      int
	secrets bool // a secret was expanded
}

// command judges one command text that stands between two offsets.
func (c *check) command(s string, from, to int) {
	c.commands(s, func(command) (int, int) { return from, to }, 0)
}

// maxNested is how deep texts of commands are followed in commands.
const maxNested = 4

// commands judges a text of commands; at says where each stands.
func (c *check) commands(s string, at func(command) (int, int), depth int) {
	if c.j.off[CI] || s == "" || depth > maxNested || c.full() {
		return
	}
	if c.sh == nil {
		c.sh = &shellState{tainted: map[string]bool{}, server: map[string]bool{}, values: map[string]string{}}
	}
	list := lex(s)
	for i := range list[1:] {
		if c.full() {
			return
		}
		from, to := at(list[i+1])
		c.judge(list, i+1, from, to, depth)
	}
}

// endCommands records what only shows at the end of a file: tracing is harmful where
// secrets are expanded.
func (c *check) endCommands() {
	if c.sh != nil && c.sh.trace && c.sh.secrets {
		c.add(CI, c.sh.from, c.sh.to, whyTrace)
	}
}

// secretIn tells whether a word holds a secret.
func (c *check) secretIn(w word) bool {
	for _, v := range w.vars {
		if c.sh.tainted[v] || v != fetching && secretName(v) {
			return true
		}
	}
	return percentSecret(w.text)
}

// percentSecret tells whether a text has a secret as cmd.exe writes variables.
func percentSecret(s string) bool {
	for {
		_, rest, ok := strings.Cut(s, "%")
		if !ok {
			return false
		}
		name, _, ok := strings.Cut(rest, "%")
		if ok && len(name) > 3 && isName(name) && secretName(name) {
			return true
		}
		s = rest
	}
}

func (c *check) anySecret(list ...[]word) bool {
	for _, words := range list {
		for _, w := range words {
			if c.secretIn(w) {
				return true
			}
		}
	}
	return false
}

// judge judges one command of a list.
func (c *check) judge(list []command, i, from, to, depth int) {
	cmd := &list[i]
	name, args := cmd.program()
	c.assign(cmd, name, args, from, to)
	secret := c.anySecret(args, cmd.inputs)
	c.sh.secrets = c.sh.secrets || secret || c.anySecret(cmd.assigned)
	switch {
	case name == "set" || shells[name] && name != "eval":
		if traces(args, name != "set") {
			c.sh.trace, c.sh.from, c.sh.to = true, from, to
		}
	}
	for _, w := range append(args[:len(args):len(args)], cmd.inputs...) {
		for _, v := range w.vars {
			if v != "" && v[0] == '{' && outsiders(v) {
				c.add(CI, from, to, whyInjection)
			}
			if v == fetching && interpreters[name] {
				c.add(CI, from, to, whyRemote)
			}
		}
	}
	c.pipeline(list, i, from, to)
	c.installs(name, args, from, to)
	dump := dumps(name, args, cmd)
	switch {
	case (dump || printsToken(name, args)) && !cmd.captured:
		c.output(list, i, from, to)
	case interpreters[name] && inCode(args, cmd.inputs):
		c.output(list, i, from, to)
	case (readers[name] || encoders[name] && !decodes(name, args)) && anyFile(args) && !cmd.captured:
		c.output(list, i, from, to)
	case printers[name] && secret && !strings.HasPrefix(firstText(args), "::add-mask::"),
		name == "printenv" && len(args) > 0 && secretName(args[len(args)-1].text):
		if !cmd.captured {
			c.output(list, i, from, to)
		}
	case encoders[name] && secret && !cmd.captured && !decodes(name, args):
		c.output(list, i, from, to)
	}
	if senders[name] {
		c.send(name, args, cmd, from, to)
	}
	c.nested(list, i, name, args, from, to, depth)
}

// readers print the files that they are told.
var readers = map[string]bool{"cat": true, "head": true, "tail": true, "less": true, "more": true, "tac": true, "nl": true, "strings": true, "bat": true, "type": true, "get-content": true, "gc": true}

func anyFile(args []word) bool {
	for _, a := range args {
		if secretFile(a.text) && !strings.HasSuffix(a.text, "/etc/passwd") && !strings.HasSuffix(a.text, ".pem") {
			return true
		}
	}
	return false
}

func inCode(lists ...[]word) bool {
	for _, words := range lists {
		for _, w := range words {
			if codeLeaks(w.text) {
				return true
			}
		}
	}
	return false
}

// nested judges the commands that stand in the words of a command: those of a shell,
// those that find runs, those that are printed into a shell, and a variable's.
func (c *check) nested(list []command, i int, name string, args []word, from, to, depth int) {
	at := func(command) (int, int) { return from, to }
	rest := func(words []word) string {
		var b strings.Builder
		for _, w := range words {
			b.WriteString(w.text + " ")
		}
		return strings.TrimSuffix(strings.TrimSpace(b.String()), ";")
	}
	switch {
	case name == "find" || name == "fd":
		for n, a := range args {
			if a.text == "-exec" || a.text == "-execdir" || a.text == "-x" {
				c.commands(rest(args[n+1:]), at, depth+1)
			}
		}
	case name == "watch" || name == "parallel" || name == "script" || name == "entr":
		for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
			args = args[1:]
		}
		c.commands(rest(args), at, depth+1)
	case printers[name] && list[i].next > 0:
		if next, more := list[list[i].next].program(); shells[next] && len(more) == 0 {
			c.commands(rest(args), at, depth+1)
		}
	case len(list[i].words) > 0 && strings.HasPrefix(list[i].words[0].text, "$"):
		if v := c.sh.values[list[i].words[0].text[1:]]; v != "" {
			c.commands(v+" "+rest(list[i].words[1:]), at, depth+1)
		}
	}
	if shells[name] {
		for _, a := range args {
			if strings.ContainsAny(a.text, " \n;|") || dumpWord(a.text) {
				c.commands(a.text, at, depth+1)
			}
		}
	}
}

func firstText(words []word) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].text
}

// dumpWord tells whether a word alone is a command that prints all variables.
func dumpWord(s string) bool {
	return s == "env" || s == "printenv" || s == "set" || s == "export" || s == "/usr/bin/env"
}

// assign follows secrets into other variables, and changes of the server's addresses.
func (c *check) assign(cmd *command, name string, args []word, from, to int) {
	list := cmd.assigned
	if name == "export" || name == "declare" || name == "local" || name == "readonly" || name == "set" || name == "setx" {
		list = append(list[:len(list):len(list)], args...)
	}
	for _, w := range list {
		n, value, ok := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
		if !ok {
			continue
		}
		switch {
		case !isName(n):
		case c.secretIn(w):
			c.sh.tainted[n] = true
		case len(w.vars) == 0 && len(value) < 256 && len(c.sh.values) < 256:
			c.sh.values[n] = value
		}
		c.setVariable(n, value, from, to)
	}
}

// setVariable judges that a variable is set.
func (c *check) setVariable(name, value string, from, to int) {
	if serverNames[name] {
		c.sh.server[name] = true
	}
	c.registryVariable(name, value, from, to)
	if v := strings.ToLower(strings.Trim(value, `"' `)); v == "true" || v == "1" || v == "yes" {
		switch name {
		case "CI_DEBUG_TRACE", "ACTIONS_STEP_DEBUG", "ACTIONS_RUNNER_DEBUG", "SYSTEM_DEBUG", "system.debug":
			c.add(CI, from, to, whyTrace)
		}
	}
}

// traces tells whether the options of a shell, or of set, turn tracing on.
func traces(args []word, shell bool) bool {
	for i, a := range args {
		switch t := a.text; {
		case t == "-o" && i+1 < len(args) && (args[i+1].text == "xtrace" || args[i+1].text == "verbose"), t == "--verbose" && shell:
			return true
		case len(t) > 1 && t[0] == '-' && t[1] != '-' && len(t) < 8 && strings.ContainsAny(t[1:], "x"):
			return true
		case shell && t != "" && t[0] != '-':
			return false
		}
	}
	return false
}

// outsiders tells whether an expression of GitHub is text that anybody can write.
func outsiders(v string) bool {
	e := strings.ToLower(strings.ReplaceAll(v, " ", ""))
	if strings.Contains(e, "github.head_ref") {
		return true
	}
	_, e, ok := strings.Cut(e, "github.event.")
	if !ok {
		return false
	}
	for _, s := range []string{".title", ".body", ".head.ref", ".head.label", ".message", ".email", ".name", ".default_branch", ".page_name", ".head_branch", ".display_title"} {
		if strings.Contains(e, s) {
			return true
		}
	}
	return false
}

// pipeline judges what is run that was fetched or decoded right before.
func (c *check) pipeline(list []command, i, from, to int) {
	name, args := list[i].program()
	if !fetchers[name] && !decodes(name, args) {
		return
	}
	for n, stages := list[i].next, 0; n > 0 && stages <= maxStages; n, stages = list[n].next, stages+1 {
		if next, _ := list[n].program(); interpreters[next] {
			c.add(CI, from, to, whyRemote)
			return
		}
	}
}

// decodes tells whether a command takes an encoding off.
func decodes(name string, args []word) bool {
	switch name {
	case "base64", "base32", "basenc", "openssl", "certutil", "uudecode":
		return name == "uudecode" || hasArg(args, "-d", "-D", "--decode", "-di", "-decode", "--d")
	case "xxd":
		return hasArg(args, "-r", "-rp", "-r-p")
	}
	return false
}
