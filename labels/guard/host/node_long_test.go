//go:build long

package host_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/labels/guard/host"
)

// script has Node read URLs by the URL standard, those in parameters and those that a
// browser is sent to from a page too: an array of texts in, an array of hosts out.
const script = `
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const at = (t, base) => { try { const u = new URL(t, base); return /^(https?|wss?|ftp|ssh):$/.test(u.protocol) ? u.hostname : ''; } catch { return ''; } };
console.log(JSON.stringify(texts.map(t => {
  const hosts = [at(t)];
  try {
    const u = new URL(t);
    for (const q of [u.search, u.hash.replace(/^#/, '')])
      for (const [k, v] of new URLSearchParams(q)) {
        const plain = 'https://base.example.com/';
        for (const x of [k, v]) hosts.push(at(x, plain));
      }
  } catch {}
  return hosts.filter(h => h !== '' && h !== 'base.example.com');
})));`

// TestBrowserReadsTheSame: of texts made at random out of tricks, those that pass have
// an allowed host where Node's parser, which is a browser's, reads them.
func TestBrowserReadsTheSame(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node here")
	}
	r := rand.New(rand.NewPCG(1, 2))
	judges := []struct {
		r  *host.Rule
		ok func(string) bool
	}{{rule(t, host.Options{Allow: []string{"example.com:*", "*.example.com:*", "8.8.8.8:*", "xn--bcher-kva.example:*"}}), permitted}, {rule(t, host.Options{}), harmless}}
	var passed []string
	var by []int
	for range 1_000_000 {
		u := made(r)
		for n, j := range judges {
			if strings.HasPrefix(u, "/") || j.r.Check(u) != "" {
				continue
			}
			form := u
			if !absolute.MatchString(form) {
				form = "https://" + form
			}
			passed, by = append(passed, form), append(by, n)
		}
	}
	if len(passed) < 10_000 {
		t.Fatalf("only %d pass", len(passed))
	}
	in, err := json.Marshal(passed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "read.cjs")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, file)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var hosts [][]string
	if err := json.Unmarshal(out, &hosts); err != nil || len(hosts) != len(passed) {
		t.Fatalf("%d of %d: %v", len(hosts), len(passed), err)
	}
	read := 0
	for i, list := range hosts {
		for _, h := range list {
			read++
			if !judges[by[i]].ok(strings.Trim(h, "[]")) {
				t.Errorf("%q passes, and a browser reads %q", passed[i], h)
			}
		}
	}
	t.Logf("%d pass; %d hosts were read in them", len(passed), read)
}

// made is a text of a few pieces that URLs are attacked with.
func made(r *rand.Rand) string {
	pieces := []string{"https://", "http://", "https:", "//", "/", `\`, "@", ":", "?", "#", "&", "=", ";", ".", "%", "%2f", "%5c", "%40", "%2e", "\t", " ", "u=", "next=", "443", "80", "0", "[", "]", "::1", "evil.test", "example.com", "a.example.com",
		"example.com.evil.test", "127.0.0.1", "8.8.8.8", "0x7f", "localhost", "user", "b\u00fccher.example", "xn--bcher-kva.example", "。", "\uff0f", "\u00ad", "x", "-", "_", "%252f%252f", "%3a", "javascript:", "+", "'", "|", "^", "~", "git@", "ssh://", "A"}
	var b strings.Builder
	if r.IntN(4) > 0 {
		b.WriteString("https://")
		b.WriteString([]string{"example.com", "a.example.com", "example.com:8443", "8.8.8.8"}[r.IntN(4)])
		b.WriteString([]string{"", "/", "?", "/?u=", "#", "/#a="}[r.IntN(6)])
	}
	for range 1 + r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}
