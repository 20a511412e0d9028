package observed_test

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry/observed"
)

// FuzzFile: whatever a well-sealed file says, it is refused or read, and written
// again as what was read.
func FuzzFile(f *testing.F) {
	f.Add(`{"origin":"https://tools.example/mcp","revision":1,"accounts":[]}`)
	f.Add(`{"origin":"https://tools.example/mcp","revision":7,"accounts":[{"kind":"tool","name":"pay","tool":"tool_01JB2Z6T4E9W8K3Q5R7XAAAAAA","gen":1,"ver":1,"digest":"sha-256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","account":{"calls":3,"runs":["run_1"],"first":1,"last":2,"signs":{"output_unfit":{"n":1,"first":1,"last":1}}},"good":{"spool":"s","entry":1}}]}`)
	f.Add(`{"origin":"x","revision":1,"accounts":null}`)
	dir := filepath.Join(f.TempDir(), "observed")
	st, err := observed.Open(dir, observed.Options{})
	if err != nil {
		f.Fatal(err)
	}
	now := time.Now()
	if err := st.Place(place).Add(subject("pay"), "", bad(now), observed.Cite{}); err != nil {
		f.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.observed"))
	if err != nil || len(names) != 1 {
		f.Fatal(names, err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		sum := sha256.Sum256([]byte("pratique/observed/v1\x00" + body))
		text := "pratique-observed/1\nsum:" + base64.RawURLEncoding.EncodeToString(sum[:]) + "\n" + body
		if err := os.WriteFile(names[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		st, err := observed.Open(dir, observed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := st.Place(place)
		before, err := p.All(now)
		if err != nil {
			if got := of(t, p, entry(subject("pay")), now); got != "suspect" {
				t.Errorf("damaged, and %s", got)
			}
			return
		}
		if err := p.Add(subject("more"), "", bad(now), observed.Cite{}); err != nil {
			t.Fatal(err)
		}
		after, err := p.All(now)
		if err != nil || len(after) < len(before) {
			t.Fatalf("%d became %d, %v", len(before), len(after), err)
		}
		for _, x := range after {
			if x.Subject == subject("more") && x.Content != labels.Violated {
				t.Error("what was added is not there")
			}
		}
	})
}
