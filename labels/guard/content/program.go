package content

import (
	"path"
	"strings"
)

// keywords and programs that only run the command behind them.
var wrappers = map[string]bool{
	"if": true, "then": true, "do": true, "else": true, "elif": true, "while": true, "until": true, "!": true, "{": true, "}": true, "time": true, "sudo": true, "doas": true,
	"exec": true, "command": true, "builtin": true, "nohup": true, "nice": true, "ionice": true, "stdbuf": true, "setsid": true, "xargs": true, "unbuffer": true, "timeout": true, "retry": true, "&": true, "call": true, "busybox": true, "cross-env": true, "run": true,
}

// program is the name of what a command runs, in small letters and without its folder,
// and the words behind it.
func (c *command) program() (string, []word) {
	words := c.words
	for len(words) > 0 {
		name := programName(words[0].text)
		if !wrappers[name] && !strings.HasSuffix(name, ":") {
			if name != "env" {
				return name, words[1:]
			}
			rest := afterEnv(words[1:])
			if len(rest) == 0 {
				return name, nil
			}
			words = rest
			continue
		}
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0].text, "-") || words[0].text != "" && strings.Trim(words[0].text, "0123456789.smh") == "") {
			words = words[1:]
		}
	}
	return "", nil
}

func programName(s string) string {
	s = strings.ToLower(strings.TrimLeft(s, "@-+"))
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(s, "\\", "/")), ".exe")
}

// afterEnv is the command that env runs; none: it prints all variables.
func afterEnv(words []word) []word {
	for len(words) > 0 {
		switch t := words[0].text; {
		case t == "-u" || t == "--unset" || t == "-C" || t == "--chdir":
			words = words[min(2, len(words)):]
		case t == "-S":
			words = words[1:]
		case strings.HasPrefix(t, "-"), strings.Contains(t, "="), strings.HasPrefix(t, "$") && len(words) == 1: // which may be nothing
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

var fetchers = map[string]bool{"curl": true, "wget": true, "iwr": true, "invoke-webrequest": true, "invoke-restmethod": true, "irm": true, "fetch": true, "aria2c": true, "lwp-request": true}

// senders take what they are told somewhere else.
var senders = map[string]bool{
	"curl": true, "wget": true, "iwr": true, "invoke-webrequest": true, "invoke-restmethod": true, "irm": true, "http": true, "https": true, "xh": true, "nc": true, "ncat": true, "netcat": true, "socat": true, "telnet": true,
	"nslookup": true, "dig": true, "host": true, "drill": true, "ping": true, "ping6": true, "ssh": true, "scp": true, "sftp": true, "rsync": true, "ftp": true, "tftp": true, "mail": true, "mailx": true, "sendmail": true, "websocat": true, "aria2c": true, "git": true, "lftp": true, "fetch": true, "gh": true, "glab": true, "aws": true, "gsutil": true, "rclone": true, "s3cmd": true, "azcopy": true, "mc": true,
}

// copiers send the files that they are told.
var copiers = map[string]bool{"scp": true, "rsync": true, "sftp": true, "aws": true, "gsutil": true, "rclone": true, "s3cmd": true, "azcopy": true, "mc": true, "gh": true, "glab": true}

var interpreters = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "fish": true, "pwsh": true, "powershell": true, "iex": true, "invoke-expression": true, "python": true, "python2": true, "python3": true, "node": true, "perl": true, "ruby": true, "php": true, "deno": true, "bun": true, "source": true, ".": true, "eval": true,
}

var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "pwsh": true, "powershell": true, "cmd": true, "bat": true, "eval": true, "iex": true, "invoke-expression": true, "su": true}

// printers write their words to where logs are kept.
var printers = map[string]bool{"echo": true, "printf": true, "print": true, "println": true, "cat": true, "write-host": true, "write-output": true, "write-information": true, "write-error": true, "write-warning": true, "out-host": true, "logger": true, "tee": true, "wall": true, "figlet": true, "cowsay": true}

// encoders change the form of what they read, so that a mask of it fails.
var encoders = map[string]bool{"base64": true, "base32": true, "xxd": true, "od": true, "hexdump": true, "rev": true, "tr": true, "sed": true, "cut": true, "fold": true, "openssl": true, "gzip": true, "bzip2": true, "xz": true, "uuencode": true, "basenc": true, "awk": true, "tac": true, "jq": true, "split": true, "certutil": true, "python3": true, "python": true, "perl": true}

// dumps tells whether a command prints all variables.
func dumps(name string, args []word, c *command) bool {
	switch name {
	case "env":
		return true // what env runs is the program otherwise
	case "printenv", "export", "declare", "typeset", "readonly":
		for _, a := range args {
			if !strings.HasPrefix(a.text, "-") || strings.Contains(a.text, "f") || strings.Contains(a.text, "n") && name == "export" {
				return false
			}
		}
		return true
	case "set":
		return len(args) == 0
	case "get-childitem", "gci", "ls", "dir", "get-item", "gi":
		return len(args) > 0 && strings.HasPrefix(strings.ToLower(args[0].text), "env:")
	case "ps":
		return len(args) > 0 && strings.ContainsAny(args[0].text, "eE") && !strings.HasPrefix(args[0].text, "-")
	case "python", "python2", "python3", "node", "ruby", "perl", "php", "deno", "bun", "groovy", "go", "awk", "gawk", "mawk":
		for _, a := range args {
			if wholeEnvironment(a.text) {
				return true
			}
		}
		for _, in := range c.inputs {
			if wholeEnvironment(in.text) {
				return true
			}
		}
	}
	if strings.Contains(name, "getenvironmentvariables") {
		return true
	}
	for _, list := range [][]word{args, c.inputs} {
		for _, a := range list {
			if strings.Contains(a.text, "/environ") && strings.Contains(a.text, "proc/") {
				return true
			}
			for _, v := range a.vars {
				if name != "" && wholeContext(v) {
					return true
				}
			}
		}
	}
	return false
}

// wholeContext tells whether an expression of GitHub is all secrets.
func wholeContext(v string) bool {
	if v == "" || v[0] != '{' {
		return false
	}
	e := strings.ToLower(strings.ReplaceAll(v, " ", ""))
	return strings.Contains(e, "tojson(secrets") || strings.Contains(e, "tojson(env)") || e == "{secrets" || strings.Contains(e, "secrets.*") || strings.Contains(e, "tojson(github)")
}

// environments are the names of all variables in programming languages, where nothing
// behind picks one of them.
var environments = []string{"os.environ", "process.env", "ENV.to_h", "ENV.each", "ENV.inspect", "ENV.to_a", "p ENV", "puts ENV", "System.getenv()", "os.Environ()", "getenv()", "%ENV", "Deno.env.toObject", "$_ENV", "$_SERVER", "Bun.env", "GetEnvironmentVariables", "ENVIRON"}

// wholeEnvironment tells whether code gets at all variables at once.
func wholeEnvironment(code string) bool {
	if !strings.ContainsAny(code, "eE") {
		return false
	}
	for _, e := range environments {
		for rest := code; ; {
			i := strings.Index(rest, e)
			if i < 0 {
				break
			}
			rest = rest[i+len(e):]
			if !strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "[") && !strings.HasPrefix(rest, "?.") && !strings.HasPrefix(rest, "iron") || strings.HasPrefix(rest, ".items") || strings.HasPrefix(rest, ".copy") || strings.HasPrefix(rest, ".values") {
				return true
			}
		}
	}
	return false
}

// secretWords are parts of the names of variables that hold secrets.
var secretWords = map[string]bool{
	"TOKEN": true, "TOKENS": true, "SECRET": true, "SECRETS": true, "PASSWORD": true, "PASSWD": true, "PASSPHRASE": true, "PASS": true, "PWD": true, "PW": true, "KEY": true, "APIKEY": true, "CREDENTIAL": true, "CREDENTIALS": true, "CREDS": true, "CRED": true,
	"AUTH": true, "JWT": true, "PAT": true, "PRIVATE": true, "DSN": true, "KUBECONFIG": true, "COOKIE": true, "BEARER": true, "WEBHOOK": true, "SIGNING": true,
}

// publicNames are names that look secret and are not.
var publicNames = map[string]bool{"PWD": true, "OLDPWD": true, "CI_COMMIT_REF_PROTECTED": true, "MAX_TOKENS": true, "CACHE_KEY": true, "PUBLIC_KEY": true, "SSH_AUTH_SOCK": true, "GIT_AUTHOR_NAME": true, "KEY": true, "PASS": true}

// secretName tells whether a variable holds a secret, by its name.
func secretName(v string) bool {
	if v == "" || v[0] == 0 {
		return v != ""
	}
	if v[0] == '{' {
		e := strings.ToLower(v)
		if strings.Contains(e, "secrets") || strings.Contains(e, "github.token") {
			return true
		}
		if i := strings.Index(e, "env."); i >= 0 {
			return secretName(strings.TrimRight(v[i+4:], " )"))
		}
		return false
	}
	if v[0] == '!' {
		return true
	}
	up := strings.ToUpper(v)
	if publicNames[up] {
		return false
	}
	switch up {
	case "DATABASE_URL", "CI_REPOSITORY_URL", "REDIS_URL", "MONGODB_URI", "CI_JOB_JWT_V2", "PGPASSWORD", "NETRC":
		return true
	}
	secret := false
	for part := range strings.SplitSeq(up, "_") {
		switch part {
		case "PUBLIC", "PUB", "CACHE", "COUNT", "LENGTH", "LIMIT", "ID", "NAME", "FILE", "PATH", "FINGERPRINT", "TYPE", "HASH", "SHA", "SIZE", "DIR":
			return false
		}
		secret = secret || secretWords[part] || len(part) > 6 && (strings.HasSuffix(part, "TOKEN") || strings.HasSuffix(part, "SECRET") || strings.HasSuffix(part, "PASSWORD") || strings.HasSuffix(part, "APIKEY"))
	}
	return secret
}

// secretFiles are parts of the paths of files that hold secrets.
var secretFiles = []string{"/environ", ".env", ".npmrc", ".netrc", ".pypirc", ".docker/config.json", ".aws/", ".ssh", "id_rsa", "id_ed25519", "id_ecdsa", ".git-credentials", ".kube/", "kubeconfig", ".gnupg", ".git/config", ".config/gcloud", "/var/run/secrets", ".vault-token", ".pem", ".p12", ".pfx", "credentials.json", "/etc/shadow", "/etc/passwd"}

// secretFile tells whether a path is one of a file that holds secrets.
func secretFile(p string) bool {
	p = strings.ToLower(p)
	for _, f := range secretFiles {
		if i := strings.Index(p, f); i >= 0 && (f[0] != '.' || i == 0 || strings.IndexByte("/~\\@= ", p[i-1]) >= 0 || f == ".pem" || f == ".p12" || f == ".pfx") {
			if rest := p[i+len(f):]; f == ".env" && rest != "" && (strings.HasPrefix(rest, ".example") || strings.HasPrefix(rest, ".sample") || strings.HasPrefix(rest, ".template") || nameByte(rest[0])) {
				continue
			}
			return true
		}
	}
	return false
}

// codeLeaks tells whether a line of a program prints or sends one secret by its name.
func codeLeaks(code string) bool {
	out := false
	for _, w := range []string{"print", "console.", "puts", "echo", "write", "requests.", "urlopen", "fetch(", "http"} {
		out = out || strings.Contains(code, w)
	}
	if !out {
		return false
	}
	for _, e := range []string{"os.environ", "getenv", "process.env", "ENV", "Deno.env", "environ"} {
		for rest := code; ; {
			i := strings.Index(rest, e)
			if i < 0 {
				break
			}
			rest = rest[i+len(e):]
			name := strings.TrimLeft(rest[:min(len(rest), 80)], ".[({\"'`get ")
			n := 0
			for n < len(name) && nameByte(name[n]) {
				n++
			}
			if secretName(name[:n]) {
				return true
			}
		}
	}
	return false
}

// tokenPrinters are commands that print a credential of the program itself.
var tokenPrinters = [][]string{{"gh", "auth", "token"}, {"gcloud", "auth", "print-access-token"}, {"gcloud", "auth", "print-identity-token"}, {"az", "account", "get-access-token"}, {"aws", "configure", "export-credentials"}, {"aws", "ecr", "get-login-password"}, {"npm", "token"}, {"oc", "whoami", "-t"}}

func printsToken(name string, args []word) bool {
	for _, p := range tokenPrinters {
		if name != p[0] || len(args) < len(p)-1 {
			continue
		}
		same := true
		for i, w := range p[1:] {
			same = same && args[i].text == w
		}
		if same {
			return true
		}
	}
	return false
}
