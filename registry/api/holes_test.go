package api_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// The tests of this file are attacks that once worked.

// TestPromisedBodiesTakeNothing: whoever announces large bodies, with a proof of
// the right form, and sends next to nothing, keeps nobody out.
func TestPromisedBodiesTakeNothing(t *testing.T) {
	r := newRig(t)
	mallory, alice := newParty(t), newParty(t)
	token := r.prove(req{method: "POST", path: "/v1/tools", op: proof.ToolRegister, by: mallory}, []byte("{}"))
	host := strings.TrimPrefix(r.url, "http://")
	for range 16 { // more than all bodies may take together, if promises counted
		c, err := net.Dial("tcp", host)
		must(t, err)
		t.Cleanup(func() { c.Close() })
		_, err = fmt.Fprintf(c, "POST /v1/tools HTTP/1.1\r\nHost: %s\r\nDPoP: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", host, token, 16<<20)
		must(t, err)
		line, err := bufio.NewReader(c).ReadString('\n') // the handler has begun to read
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
			t.Fatalf("%q, %v", line, err)
		}
		_, err = c.Write([]byte("{"))
		must(t, err)
	}
	large := registration(alice, names(300, "tool")...)
	if out := r.send(large); out.status != http.StatusCreated {
		t.Errorf("a registration meanwhile: %d %s", out.status, out.Code)
	}
}

// TestNoProofNoBody: a request without a proof of the right form is answered
// before its body is read.
func TestNoProofNoBody(t *testing.T) {
	r := newRig(t)
	host := strings.TrimPrefix(r.url, "http://")
	c, err := net.Dial("tcp", host)
	must(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST /v1/tools HTTP/1.1\r\nHost: %s\r\nDPoP: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", host, 16<<20)
	must(t, err)
	must(t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 401") {
		t.Errorf("%q, %v", line, err)
	}
}

// TestOneCommandIDAnswersForOneTool: on a path that does not name the tool, a
// command id of one tool's request does not answer for another's.
func TestOneCommandIDAnswersForOneTool(t *testing.T) {
	r := newRig(t)
	alice, bob := newParty(t), newParty(t)
	both := r.register(alice, "a", "b").Tools
	exp := r.now().Add(30 * time.Minute)
	first, second := delegate(alice, both[0], bob, exp, credentials.Overwrite), delegate(alice, both[1], bob, exp, credentials.Overwrite)
	for _, q := range []*req{&first, &second} {
		q.header = http.Header{"Idempotency-Key": {"0123456789abcdef"}}
	}
	into[registry.DelegationView](t, r.send(first), 201)
	r.send(second).want(t, 409, "command_reused")
}

// TestOneAddressHoldsAQuarter: bodies that are sent in part, under proofs that
// nobody signed, hold nothing beyond the free part; signed ones of one address
// hold a part of the room, not all of it.
func TestOneAddressHoldsAQuarter(t *testing.T) {
	r := newRig(t)
	mallory := newParty(t)
	signed := r.prove(req{method: "POST", path: "/v1/tools", op: proof.ToolRegister, by: mallory}, []byte("{}"))
	forged := signed[:len(signed)-20] + "AAAAAAAAAAAAAAAAAAAA"
	if line := <-r.sendPart(t, forged, 9<<20); !strings.HasPrefix(line, "HTTP/1.1 401") {
		t.Errorf("a forged proof and 9 MiB: %q", line)
	}
	answers, refused := make(chan string, 4), 0
	is := func(line string) {
		if refused++; !strings.HasPrefix(line, "HTTP/1.1 429") {
			t.Errorf("%q", line)
		}
	}
	for range 4 { // each is charged 16 MiB, an address has 32 of 128
		answer := r.sendPart(t, signed, 9<<20)
		go func() { answers <- <-answer }()
		select {
		case line := <-answers:
			is(line)
		case <-time.After(time.Second): // it waits for the rest, or this machine is slow
		}
	}
	for refused == 0 || len(answers) > 0 {
		is(<-answers)
	}
	if refused == 4 {
		t.Error("none of them waits for the rest")
	}
}

// sendPart sends the first bytes of a body of 16 MiB and gives the answer's
// first line, which does not come where the service waits for the rest.
func (r *rig) sendPart(t *testing.T, token string, n int) <-chan string {
	t.Helper()
	host := strings.TrimPrefix(r.url, "http://")
	c, err := net.Dial("tcp", host)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "POST /v1/tools HTTP/1.1\r\nHost: %s\r\nDPoP: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", host, token, 16<<20)
	must(t, err)
	_, _ = c.Write(make([]byte, n)) // fails where the answer comes before the end
	first := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(c).ReadString('\n')
		first <- line
	}()
	return first
}

// TestStreamTellsOfACondemnedDelegatesTools: what a condemned delegate had
// published falls, and the stream says so.
func TestStreamTellsOfACondemnedDelegatesTools(t *testing.T) {
	r := newRig(t)
	alice, bob := newParty(t), newParty(t)
	h := r.register(alice, "a").Tools[0]
	del := into[registry.DelegationView](t, r.send(delegate(alice, h, bob, r.now().Add(30*time.Minute), credentials.Overwrite)), 201)
	hb := h
	hb.Handle = del.Handle
	into[registry.HandleView](t, r.send(overwrite(bob, hb, "by the delegate")), 200)
	f := r.follow(t, fmt.Sprint(r.head()-1))
	into[registry.PrincipalView](t, r.send(req{method: "POST", path: "/v1/principals/" + string(bob.id()) + "/condemnation",
		op: proof.PrincipalCondemn, by: r.operator, body: registry.ReasonRequest{Reason: "because"}}), 200)
	into[registry.RegisterResponse](t, r.send(registration(alice, "mark")), 201)
	if _, c, ok := f.next(); !ok || c.Tool != h.ID || c.Tier != "red" {
		t.Errorf("first change: %+v %v, want %s red", c, ok, h.ID)
	}
}
