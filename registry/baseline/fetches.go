package baseline

import (
	"slices"
	"strings"
)

// Words of command lines. They decide what is shown as unpinned and which file
// is hashed as the script; they grant nothing: what is not known here is pinned
// by executable and arguments like everything else.
var (
	interpreters = set("node", "nodejs", "python", "pypy", "ruby", "perl", "php", "java", "sh", "bash", "dash", "zsh", "ksh", "fish", "tsx", "ts-node",
		"deno", "bun", "pwsh", "powershell", "cmd")
	// launchers may fetch what they run.
	launchers = set("npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun", "deno", "uvx", "uv", "pipx", "pip-run", "docker", "podman", "nerdctl", "go",
		"cargo", "nix", "nix-shell", "dnx", "dotnet", "jbang", "mcp-remote")
	subcommands = set("exec", "x", "dlx", "run", "tool", "create")
	shells      = set("sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "pwsh", "powershell")
	wrappers    = set("env", "nice", "nohup", "timeout", "stdbuf", "sudo", "doas", "setsid", "time", "xvfb-run", "dotenv", "cross-env")
	downloaders = set("curl", "wget")
)

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// fetches tells whether a launch runs code that is fetched without exact version
// and integrity (RULES.md 36). An exact version alone is not enough: what a
// registry serves for it is not in the launch. When in doubt it does.
func fetches(names, args []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return fetching(n, args) })
}

func fetching(name string, args []string) bool {
	switch name {
	case "npx", "pnpx", "bunx", "uvx", "pip-run", "nix", "nix-shell", "dnx", "jbang":
		return !slices.Contains(args, "--no-install") && !slices.Contains(args, "--no") && !slices.Contains(args, "--offline")
	case "npm", "pnpm", "yarn":
		return verb(args, "exec", "x", "dlx", "create", "init")
	case "bun":
		return verb(args, "x", "create")
	case "uv":
		return verb(args, "run", "tool", "x") && !slices.Contains(args, "--frozen") && !slices.Contains(args, "--offline")
	case "pipx", "dotnet":
		return verb(args, "run", "tool")
	case "go", "cargo", "deno":
		return slices.ContainsFunc(args, remote)
	case "docker", "podman", "nerdctl":
		return verb(args, "run", "exec", "start", "compose", "create") && !slices.ContainsFunc(args, func(a string) bool {
			_, sum, ok := strings.Cut(a, "@sha256:")
			return ok && len(sum) == 64
		})
	}
	switch {
	case downloaders[name]:
		return true
	case shells[name]:
		return slices.ContainsFunc(args, scriptFetches)
	case wrappers[name]:
		return wrapped(args)
	}
	return false
}

// verb tells whether the first argument that is no flag is one of these.
func verb(args []string, verbs ...string) bool {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return slices.Contains(verbs, a)
		}
	}
	return false
}

// remote tells whether an argument names code elsewhere: a URL, or a module with
// a version.
func remote(a string) bool {
	return strings.Contains(a, "://") || strings.HasPrefix(a, "npm:") || strings.HasPrefix(a, "jsr:") ||
		!strings.HasPrefix(a, "-") && strings.Contains(a, "@")
}

// wrapped looks at the command behind env, nice and their kin: at every argument
// that may be one, since each has flags of its own.
func wrapped(args []string) bool {
	for i, a := range args {
		n := program(a)
		if (launchers[n] || downloaders[n] || shells[n] || wrappers[n]) && fetching(n, args[i+1:]) {
			return true
		}
	}
	return false
}

// scriptFetches looks through the text of a shell's -c for the words of what
// fetches.
func scriptFetches(text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()`$\"'", r) })
	for i, w := range words {
		n := program(w)
		if downloaders[n] || launchers[n] && fetching(n, words[i+1:]) {
			return true
		}
	}
	return false
}

// ambientNames and ambientPrefixes are of variables that say where somebody sits,
// not what runs. They differ between a terminal, an editor and a desktop session
// of one person, so that a pin over them would only ever cry wolf. PATH is among
// them since what it led to is resolved and hashed.
var (
	ambientNames = set("PATH", "HOME", "USER", "LOGNAME", "USERNAME", "SHELL", "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "PWD", "OLDPWD", "SHLVL", "_",
		"HOSTNAME", "HOST", "HOSTTYPE", "OSTYPE", "MACHTYPE", "MAIL", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "WINDOWID", "DESKTOP_SESSION", "SESSION_MANAGER",
		"EDITOR", "VISUAL", "PAGER", "LESS", "LESSOPEN", "LESSCLOSE", "LS_COLORS", "LSCOLORS", "CLICOLOR", "COLUMNS", "LINES", "TMPDIR", "TMP", "TEMP", "TMUX",
		"TMUX_PANE", "STY", "INVOCATION_ID", "JOURNAL_STREAM", "MANAGERPID", "DEBUGINFOD_URLS", "MOTD_SHOWN", "PS1", "HISTFILE", "HISTSIZE", "HISTCONTROL",
		"COMMAND_MODE", "SECURITYSESSIONID", "LaunchInstanceID", "ORIGINAL_XDG_CURRENT_DESKTOP", "NO_COLOR", "FORCE_COLOR", "INIT_CWD", "CLAUDECODE",
		"SystemRoot", "SYSTEMROOT", "SystemDrive", "SYSTEMDRIVE", "COMPUTERNAME", "ComSpec", "PATHEXT", "OS", "NUMBER_OF_PROCESSORS", "SESSIONNAME", "USERDOMAIN",
		"USERPROFILE", "HOMEDRIVE", "HOMEPATH", "PUBLIC", "windir", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ProgramData")
	ambientPrefixes = []string{"LC_", "XDG_", "SSH_", "GPG_", "DBUS_", "TERM_", "VSCODE_", "CURSOR_", "ITERM_", "KITTY_", "ALACRITTY_", "WEZTERM_", "KONSOLE_", "GNOME_",
		"GTK_", "QT_", "KDE_", "GJS_", "VTE_", "WT_", "WSL", "CLAUDE_CODE_", "__CF", "npm_", "PROCESSOR_", "GIO_", "STARSHIP_", "ZELLIJ", "BASH_FUNC_"}
	ambientNever = []string{"npm_config_", "SSH_ASKPASS"}
)

// ambient tells whether a variable is left out of the pin.
func ambient(name string) bool {
	return ambientNames[name] || hasPrefix(name, ambientPrefixes) && !hasPrefix(name, ambientNever)
}

// chooses tells whether a variable's value decides what code runs or whom it
// speaks to, by its name.
func chooses(name string) bool {
	n := strings.ToUpper(name)
	return choosing[n] || hasPrefix(n, []string{"LD_", "DYLD_", "NPM_CONFIG_", "PIP_", "UV_", "BUN_", "DENO_", "YARN_", "PNPM_", "GIT_", "PERL5", "RUBY", "GEM_", "DOTNET_", "BASH_FUNC_"}) ||
		slices.ContainsFunc([]string{"URL", "URI", "ENDPOINT", "HOST", "SERVER", "PROXY", "BASE", "ADDR", "ADDRESS", "DOMAIN", "REGISTRY"}, func(s string) bool { return n == s || strings.HasSuffix(n, "_"+s) })
}

var choosing = set("NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE",
	"VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "BASH_ENV", "ENV", "ZDOTDIR", "PHPRC", "PHP_INI_SCAN_DIR",
	"LUA_PATH", "LUA_CPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GOFLAGS", "GOPROXY", "DOCKER_CONTEXT", "SSH_ASKPASS", "RES_OPTIONS", "HOSTALIASES", "SHELLOPTS", "IFS")

func hasPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
