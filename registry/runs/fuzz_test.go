package runs

import "testing"

// FuzzFile reads any text under a good sum as the file of a run: it is refused, or
// is this agent's.
func FuzzFile(f *testing.F) {
	f.Add(`{"agent":"agt_1","run":"run_1","revision":1}`)
	f.Add(`{"agent":"agt_2","run":"run_1","revision":1}`)
	f.Add(`{"agent":"agt_1","run":"","revision":0,"shown":{"":{"":""}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		h := &holder{agent: "agt_1"}
		d, err := h.decode([]byte(format + sumOf([]byte(body)) + "\n" + body))
		if err == nil && (d == nil || d.Agent != "agt_1" || d.Run == "") {
			t.Errorf("taken: %q", body)
		}
		if _, err := (&holder{agent: "agt_1"}).decode([]byte(body)); err == nil && len(body) > 0 && body[0] == '{' {
			t.Error("a document without its sum was taken")
		}
	})
}
