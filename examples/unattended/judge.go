package unattended

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
	"github.com/pratique-dev/pratique/registry"
)

// A Count is what a suite came to.
type Count struct {
	Attacks, Public, Blocked int // Public: of them out of a list of others
	Benign, Passed, Asked    int
}

// String is the count in one line.
func (c Count) String() string {
	return fmt.Sprintf("%d attacks (%d of our own, %d out of public lists), %d blocked; %d calls of its work, %d blocked, %d asked",
		c.Attacks, c.Attacks-c.Public, c.Public, c.Blocked, c.Benign, c.Benign-c.Passed, c.Asked)
}

// Holds wants every attack to be refused before the server heard of it, for its
// reason, and every call of the agent's work to be done, unasked. It ends the
// connection, and Pratique with it, and then reads the decision log.
func (d *Desk) Holds(attacks, benign []Vector) (c Count) {
	d.t.Helper()
	c.Attacks, c.Benign = len(attacks), len(benign)
	refs := make([]string, len(attacks))
	for i, v := range attacks {
		if v.Public() {
			c.Public++
		}
		refs[i] = d.refused(v)
		if refs[i] != "" {
			c.Blocked++
		}
	}
	for _, v := range benign {
		o := d.Try(v)
		if o.Worked() && o.Heard == 1 {
			c.Passed++
			continue
		}
		d.t.Errorf("%s is blocked: %v %v %.300q, heard %d", v.Name, o.Result, o.Err, o.Text, o.Heard)
	}
	d.Leave()
	if d.stop != nil {
		d.stop()
	}
	c.Asked = d.recorded(attacks, refs)
	return c
}

// refused wants a call to be refused without a trace, and gives the reference of the
// refusal; empty: it was not.
func (d *Desk) refused(v Vector) string {
	d.t.Helper()
	o := d.Try(v)
	switch r := o.Refused; {
	case o.Err != nil || r == nil:
		d.t.Errorf("%s is not refused: %v %v %.300q, changes %q", v.Name, o.Result, o.Err, o.Text, o.Changes)
	case o.Heard != 0 || o.Requests != 0 || len(o.Changes) > 0:
		d.t.Errorf("%s is refused too late: heard %d, %d requests, changes %q", v.Name, o.Heard, o.Requests, o.Changes)
	case r.Status != "blocked_by_policy" || r.Invoked == nil || *r.Invoked || r.Ref == "" || !o.Failed:
		d.t.Errorf("%s is refused in another form: %.400q", v.Name, o.Text)
	case v.Reason == "guard" && (r.Reason != "guard" || len(r.Paths) == 0):
		d.t.Errorf("%s is refused, but the agent is not told where: %s %q", v.Name, r.Reason, r.Paths)
	default:
		return r.Ref
	}
	return ""
}

var andMore = regexp.MustCompile(`^and ([0-9]+) more`)

// recorded wants an entry of every refusal, with the vector's reason, and gives how
// many calls asked. Of what an agent was not shown, so many a minute have an entry of
// their own; the others are counted in one.
func (d *Desk) recorded(attacks []Vector, refs []string) (asked int) {
	d.t.Helper()
	byCall, counted := map[string][]registry.Entry{}, map[counter]int{}
	for _, e := range d.Entries() {
		switch m := andMore.FindStringSubmatch(e.Detail); {
		case e.Type == registry.EntryDropped && m != nil:
			n, _ := strconv.Atoi(m[1])
			counted[counter{e.Run, e.Reason}] += n
		case e.Type == registry.EntryDecision:
			byCall[e.Call] = append(byCall[e.Call], e)
		}
		if e.Verb == "ask" || e.Reason == "no_channel" {
			asked++
			d.t.Errorf("%s asks: %s", e.Name, e.Reason)
		}
	}
	run := ""
	for i, v := range attacks {
		switch list := byCall[refs[i]]; {
		case refs[i] == "":
		case len(list) == 1:
			d.reason(v, list[0])
			run = list[0].Run
		case len(list) == 0 && slices.ContainsFunc(words(v.Reason), func(r string) bool { return counted[counter{run, r}] > 0 }):
			for _, r := range words(v.Reason) {
				counted[counter{run, r}]--
			}
		default:
			d.t.Errorf("%s has %d entries: %+v", v.Name, len(list), list)
		}
	}
	return asked
}

// counter is whose refusals are counted in one entry, and for which reason.
type counter struct{ run, reason string }

func words(s string) []string { return strings.Split(s, "|") }

// reason wants an entry to say what refused the vector.
func (d *Desk) reason(v Vector, e registry.Entry) {
	d.t.Helper()
	if e.Verb != "deny" || e.Invoked != "no" || !slices.Contains(words(v.Reason), e.Reason) || v.Guard != "" && !slices.Contains(words(v.Guard), e.Guard) {
		d.t.Errorf("%s is refused by another layer: %s %s, guard %q at %q; want %s, guard %q", v.Name, e.Verb, e.Reason, e.Guard, e.Paths, v.Reason, v.Guard)
	}
}

// Others are calls of all tools of a server that the desk does not list, with the same
// arguments.
func (d *Desk) Others(all *Desk, args string) (list []Vector) {
	for _, x := range all.Tools {
		if !slices.ContainsFunc(d.Tools, func(t crew.Tool) bool { return t.Name == x.Name }) {
			list = append(list, Vector{Name: x.Name, Tool: x.Name, Args: []byte(args)})
		}
	}
	return list
}

// Unheard wants every one of the calls to be refused, and that neither the server nor
// what is behind it hears of one.
func (d *Desk) Unheard(calls []Vector) (refused int) {
	d.t.Helper()
	for _, v := range calls {
		if d.refused(v) != "" {
			refused++
		}
	}
	return refused
}
