package stage

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/internal/mcptest"
)

// Inspector is what /readyz of up says of the inspector.
func (h *House) Inspector() (note string, ok bool) {
	h.t.Helper()
	resp, err := http.Get(h.Admin + "/readyz?verbose")
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	var said struct {
		Checks []struct {
			Name string `json:"name"`
			Note string `json:"note"`
			OK   bool   `json:"ok"`
		} `json:"checks"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		h.t.Fatalf("%v: %s", err, body)
	}
	for _, c := range said.Checks {
		if c.Name == "inspector" {
			return c.Note, c.OK
		}
	}
	h.t.Fatalf("/readyz names no inspector: %s", body)
	return "", false
}

// Inspectors are the processes that inspect for a gateway: for up, or for the guard
// of an agent.
func (h *House) Inspectors(a *mcptest.Agent) (pids []int) {
	h.t.Helper()
	parent := a.Pid()
	if !h.Way.Guarded() {
		parent = h.Pid()
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range stats {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue // it ended
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		_, rest, _ := strings.Cut(string(raw), ") ")
		fields := strings.Fields(rest) // state, parent, …
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) && strings.HasPrefix(string(line), "pratique-inspector\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}
