package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/registry"
)

func toolsObserverVerbs() []verb {
	return []verb{
		{
			name: "report", usage: "observer: report what a tool was seen to do",
			about: "Only a principal that an operator enrolled with principals enrol-observer may, and nobody about a tool of its own. The version becomes suspect at most, and a review is opened for the operator. Signs: " + strings.Join(reportable(), ", ") + ".",
			flags: actorFlags("the observer", toolFlag(), &option{name: "digest", arg: "DIGEST", usage: "the version that was seen", required: true},
				&option{name: "saw", arg: "SIGN", usage: "what was seen", kind: many, required: true}),
			out: reportOutput{}, run: reportTool,
		},
		{
			name: "reviews", usage: "operator: list versions against which an observer's word stands",
			about: "tools release or tools condemn ends a review.",
			flags: actorFlags("the operator", &option{name: "tool", arg: "ID", usage: "of this tool"}),
			out:   reviewsOutput{}, run: listReviews,
		},
	}
}

func principalsObserverVerbs(id func() *option) []verb {
	return []verb{
		{
			name: "enrol-observer", usage: "operator: the principal may report what it saw tools do",
			about: "It may also confirm what an agent's runtime deleted. Speaking for an origin makes nobody an observer.",
			flags: actorFlags("the operator", id()), out: principalOutput{}, run: enrolObserver,
		},
		{
			name: "dismiss-observer", usage: "operator: the principal reports no more; what it reported stays",
			flags: actorFlags("the operator", id()), out: principalOutput{}, run: dismissObserver,
		},
	}
}

// reportable are the signs that an observer may report.
func reportable() (out []string) {
	for _, r := range observe.Table() {
		if r.Reported {
			out = append(out, string(r.Sign))
		}
	}
	return out
}

// reportOutput is what a report came to.
type reportOutput struct{ registry.ObservationView }

func (o reportOutput) show(w io.Writer) {
	pairs(w, "tool", string(o.Tool), "recorded", yesNo(o.Recorded), "content", o.Content, "ledger index", strconv.FormatUint(o.Index, 10))
}

func reportTool(c *call) (any, error) {
	id, err := c.toolID()
	if err != nil {
		return nil, err
	}
	digest, err := credentials.ParseDigest(c.str("digest"))
	if err != nil {
		return nil, err
	}
	var saw []observe.Sign
	for _, s := range c.strs("saw") {
		if !slices.Contains(reportable(), s) {
			return nil, usagef("--saw wants some of %s", strings.Join(reportable(), ", "))
		}
		saw = append(saw, observe.Sign(s))
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	t, err := a.Client().Tool(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.Digest != digest {
		return nil, fmt.Errorf("%w: it is %s", registry.ErrStaleBase, t.Digest)
	}
	v, err := a.Observe(ctx, t, saw...)
	return or(reportOutput{v}, err)
}

// reviewsOutput are the open reviews.
type reviewsOutput struct {
	Reviews []registry.ReviewView `json:"reviews"`
}

func (o reviewsOutput) show(w io.Writer) {
	rows := [][]string{{"TOOL", "NAME", "ORIGIN", "VER", "CONTENT", "OBSERVER", "SAW", "AT"}}
	for _, r := range o.Reviews {
		var saw []string
		for _, s := range r.Saw {
			saw = append(saw, string(s))
		}
		rows = append(rows, []string{string(r.Tool), r.Name, r.Origin, strconv.FormatUint(r.Version, 10), r.Content, string(r.Observer), strings.Join(saw, ", "), moment(r.At)})
	}
	table(w, rows)
}

func listReviews(c *call) (any, error) {
	id := credentials.ToolID(c.str("tool"))
	if id != "" {
		if _, err := credentials.ParseToolID(string(id)); err != nil {
			return nil, err
		}
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	rs, err := a.Reviews(ctx, id)
	return or(reviewsOutput{rs}, err)
}

func enrolObserver(c *call) (any, error) { return c.onPrincipal((*client.Actor).EnrolObserver) }

func dismissObserver(c *call) (any, error) { return c.onPrincipal((*client.Actor).DismissObserver) }
