package content

import (
	"strings"
)

// output judges where the secret that a command prints goes to.
func (c *check) output(list []command, i, from, to int) {
	encoded := false
	for n, stages := i, 0; ; n, stages = list[n].next, stages+1 {
		cmd := &list[n]
		name, args := cmd.program()
		switch {
		case n != i && senders[name]:
			c.add(CI, from, to, whySends)
			return
		case n != i && takes(name, args):
			return
		case name == "tee" && n != i:
			c.add(CI, from, to, whyPrints)
			return
		case encoders[name] && !decodes(name, args) && !(n == i && (interpreters[name] || dumps(name, args, cmd))):
			encoded = true
		}
		if len(cmd.targets) > 0 {
			c.target(cmd.targets, &list[i], from, to)
			return
		}
		if cmd.next == 0 || stages > maxStages {
			if cmd.captured {
				return
			}
			break
		}
	}
	if encoded {
		c.add(CI, from, to, whyEncodes)
	} else {
		c.add(CI, from, to, whyPrints)
	}
}

// maxStages is how many commands of one pipeline are followed.
const maxStages = 16

// takes tells whether a program reads a secret as it should be read, and prints none.
func takes(name string, args []word) bool {
	switch name {
	case "ssh-add", "gpg", "gpg2", "apt-key", "kubectl", "helm", "vault", "sops", "age", "pass", "wc", "test", "xclip", "sha256sum", "crane", "cosign", "skopeo", "oras":
		return name != "gpg" && name != "gpg2" || !hasArg(args, "-d", "--decrypt", "-a", "--armor")
	case "grep", "egrep", "rg":
		return hasArg(args, "-q", "-qE", "-qi", "-qF", "--quiet", "-c", "-qs")
	}
	return hasArg(args, "--password-stdin", "--passphrase-fd", "--with-token", "--stdin", "stdin", "--token-stdin", "--passin", "--password-file=-")
}

func hasArg(args []word, names ...string) bool {
	for _, a := range args {
		for _, n := range names {
			if a.text == n {
				return true
			}
		}
	}
	return false
}

// target judges a file that a secret is written to.
func (c *check) target(files []word, first *command, from, to int) {
	name, args := first.program()
	for _, f := range files {
		t := f.text
		switch {
		case t == "/dev/null":
		case strings.HasPrefix(t, "/dev/tcp/") || strings.HasPrefix(t, "/dev/udp/"):
			c.add(CI, from, to, whySends)
		case strings.HasPrefix(t, "/dev/std") || t == "/dev/tty" || t == "1" || t == "2" || strings.Contains(t, "GITHUB_STEP_SUMMARY") || strings.HasPrefix(t, "/proc/self/fd"):
			c.add(CI, from, to, whyPrints)
		case strings.HasPrefix(t, "/proc/"):
			c.add(CI, from, to, whyPrints)
		case strings.Trim(t, "0123456789") == "": // a descriptor that something was opened on
			c.add(CI, from, to, whySends)
		case dumps(name, args, first):
			c.add(CI, from, to, whyPublishes)
		default:
			c.wrote(t, from, to)
		}
	}
}

// wrote remembers a file that a secret was written to: publishing it is found later.
func (c *check) wrote(file string, from, to int) {
	c.files = append(c.files, secretOutput{strings.TrimPrefix(file, "./"), from, to})
}

// A secretOutput is a file that a job writes a secret to.
type secretOutput struct {
	file     string
	from, to int
}

// published judges a path of files that a job gives away.
func (c *check) published(p string, from, to int) {
	p = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(p), "./"), "/")
	if secretFile(p) {
		c.add(CI, from, to, whyPublishes)
	}
	base := strings.TrimRight(p, "*/")
	for _, f := range c.files {
		if f.file == p || base == "" || strings.HasPrefix(f.file, base+"/") || strings.HasPrefix(p, "*") && strings.HasSuffix(f.file, strings.TrimLeft(p, "*/")) {
			c.add(CI, f.from, f.to, whyPublishes)
		}
	}
}

// serverNames are variables that hold addresses of the server that runs the job.
var serverNames = map[string]bool{
	"CI_API_V4_URL": true, "CI_API_GRAPHQL_URL": true, "CI_SERVER_URL": true, "CI_SERVER_HOST": true, "CI_SERVER_FQDN": true, "CI_PROJECT_URL": true, "CI_REGISTRY": true, "CI_DEPENDENCY_PROXY_SERVER": true, "CI_REGISTRY_IMAGE": true, "CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX": true, "CI_DEPENDENCY_PROXY_DIRECT_GROUP_IMAGE_PREFIX": true,
	"GITHUB_API_URL": true, "GITHUB_SERVER_URL": true, "GITHUB_GRAPHQL_URL": true,
}

// toServer tells whether a URL is one of the job's own server, or of a host on the list.
func (c *check) toServer(u string) bool {
	if scheme, rest, ok := strings.Cut(u, "://"); ok {
		authority, _, _ := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(authority, '@'); i >= 0 {
			u = scheme + "://" + rest[i+1:]
		}
	}
	for _, p := range []string{"https://", "$CI_SERVER_PROTOCOL://"} {
		if rest, ok := strings.CutPrefix(u, p); ok && strings.HasPrefix(rest, "$") {
			u = rest
			break
		}
	}
	if rest, ok := strings.CutPrefix(u, "$"); ok {
		n := 0
		for n < len(rest) && nameByte(rest[n]) {
			n++
		}
		name := rest[:n]
		return serverNames[name] && !c.sh.server[name] && (n == len(rest) || rest[n] == '/' || rest[n] == '?' || rest[n] == ':' && strings.HasPrefix(rest[n:], ":$CI_SERVER_PORT"))
	}
	for _, e := range []string{"${{github.api_url}}/", "${{github.server_url}}/"} {
		if strings.HasPrefix(strings.ReplaceAll(u, " ", ""), e) {
			return true
		}
	}
	h, ok := hostOf(u)
	return ok && c.j.hosts[h]
}

// authOptions are options of curl, wget and HTTPie whose value goes into a header that
// proves who asks.
var authOptions = map[string]bool{"-H": true, "--header": true, "-u": true, "--user": true, "--oauth2-bearer": true, "--password": true, "--http-password": true, "--http-user": true, "-a": true, "--auth": true, "-A": true, "-i": true}

// send judges a command that takes its words somewhere else.
func (c *check) send(name string, args []word, cmd *command, from, to int) {
	secret, proves, away, files := false, true, false, false
	for i, a := range args {
		s := c.secretIn(a)
		before := ""
		if i > 0 {
			before = args[i-1].text
		}
		u := addressOf(name, before, a.text)
		if u != "" && !c.toServer(u) {
			away = true
		}
		if s {
			secret = true
			flag, _, _ := strings.Cut(a.text, "=")
			ok := i > 0 && authOptions[args[i-1].text] || authOptions[flag] || len(a.text) > 2 && authOptions[a.text[:2]] && a.text[1] != '-'
			proves = proves && (ok || u != "" && name == "git" || tokenField(a.text))
		}
		if (strings.Contains(a.text, "@") || copiers[name] || i > 0 && (args[i-1].text == "-T" || args[i-1].text == "--upload-file" || strings.HasPrefix(args[i-1].text, "--post-file"))) && secretFile(a.text) && !(i > 0 && (args[i-1].text == "-i" || args[i-1].text == "-e")) {
			files = true
		}
		if s && (a.text == "-k" || strings.HasPrefix(a.text, "--connect-to")) {
			proves = false
		}
	}
	input := c.anySecret(cmd.inputs)
	switch {
	case name == "gh" && hasArg(args, "secret", "auth"), name == "glab" && hasArg(args, "auth", "variable"):
	case name == "git" && !hasArg(args, "push", "clone", "fetch", "pull", "remote", "ls-remote", "submodule"):
	case files, input && name != "git", secret && (away || !proves):
		c.add(CI, from, to, whySends)
	}
}

// valued are options whose value is a word of its own and no address.
var valued = map[string]bool{
	"-o": true, "--output": true, "-w": true, "--write-out": true, "-X": true, "--request": true, "-d": true, "--data": true, "--data-raw": true, "--data-binary": true, "--data-urlencode": true, "-F": true, "--form": true, "--form-string": true, "--json": true,
	"-H": true, "--header": true, "-u": true, "--user": true, "-T": true, "--upload-file": true, "-b": true, "--cookie": true, "-c": true, "--cookie-jar": true, "-A": true, "-e": true, "-m": true, "--max-time": true, "--connect-timeout": true, "--retry": true, "--retry-delay": true,
	"-i": true, "-a": true, "--auth": true, "--oauth2-bearer": true, "--cacert": true, "--cert": true, "--key": true, "-P": true, "-p": true, "-t": true, "-O": false, "-Method": true, "-Headers": true, "-Body": true, "-OutFile": true, "-C": true, "-m:": true, "--post-data": true, "--body-data": true, "--method": true, "-b:": true, "-q": true,
}

// addressOf is the address in a word of a sender, by the word before it; empty where
// there is none.
func addressOf(name, before, s string) string {
	if i := strings.Index(s, "://"); i >= 0 && !(valued[before] && before != "--url") {
		start := strings.LastIndexAny(s[:i], " =\"'") + 1
		return s[start:]
	}
	switch {
	case name == "git" || name == "ssh" || valued[before] || strings.HasPrefix(s, "-") || strings.ContainsAny(s, " ={\"") || s == "":
		return ""
	case s[0] == '$':
		return s
	case strings.Contains(s, ":") || strings.ToUpper(s) == s:
		return ""
	}
	return s
}

// tokenField tells whether a word is a field or a query that the servers themselves
// take a token in.
func tokenField(s string) bool {
	for _, f := range []string{"token=$", "job_token=$", "private_token=$", "access_token=$"} {
		if strings.HasPrefix(s, f) || strings.Contains(s, "?"+f) || strings.Contains(s, "&"+f) {
			return true
		}
	}
	return false
}
