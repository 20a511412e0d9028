package surface

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// Why a list is incomplete, beside what the upstream itself answered. All come
// wrapped in gate.ErrIncomplete.
var (
	errCursor  = errors.New("a cursor came twice")
	errBarren  = errors.New("pages bring nothing new")
	errTooMany = errors.New("more items, bytes or pages than are read")
	errShape   = errors.New("an answer is not that of a list")
	errRefused = errors.New("the upstream answered with an error")
)

// A source is one list of the protocol.
type source struct {
	kind       gate.Kind
	method     string
	member     string
	capability string // that has to be claimed
	changed    string // the notification about it
}

var sources = [...]source{
	{gate.Tool, "tools/list", "tools", "tools", "notifications/tools/list_changed"},
	{gate.Prompt, "prompts/list", "prompts", "prompts", "notifications/prompts/list_changed"},
	{gate.Resource, "resources/list", "resources", "resources", "notifications/resources/list_changed"},
	{gate.Template, "resources/templates/list", "resourceTemplates", "resources", "notifications/resources/list_changed"},
}

// claims tells whether the upstream claims a capability: others are not asked for.
func claims(w mcp.Welcome, capability string) bool {
	var c map[string]jsontext.Value
	if len(w.Capabilities) == 0 || json.Unmarshal(w.Capabilities, &c) != nil {
		return false
	}
	return c[capability].Kind() == '{'
}

// A collection is one complete reading of a list, as it was sent.
type collection struct {
	raw    []jsontext.Value
	hashes [][sha256.Size]byte // of the pages, as they came
	pages  []page
	bytes  int
	ttl    time.Duration // the shortest of the pages; negative: none was given
}

type page struct {
	items  []jsontext.Value
	cursor string
	ttl    time.Duration
}

// collect reads a list to its end; a page whose bytes are those of the reading
// before is not decoded again. What it returns with an error is nothing.
func (k *Keeper) collect(ctx context.Context, s source, before *collection) (*collection, error) {
	c := &collection{ttl: -1}
	lim := k.opt.Limits
	way := progress{cursors: map[string]bool{}, items: map[[sha256.Size]byte]bool{}}
	params := jsontext.Value(`{}`)
	for n := 0; ; n++ {
		if n == lim.Pages {
			return nil, errTooMany
		}
		raw, err := k.page(ctx, s, params)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(raw)
		var p page
		if before != nil && n < len(before.hashes) && before.hashes[n] == sum {
			p = before.pages[n]
		} else if p, err = parsePage(s.member, raw); err != nil {
			return nil, err
		}
		c.bytes += len(raw)
		c.hashes, c.pages = append(c.hashes, sum), append(c.pages, p)
		c.raw = append(c.raw, p.items...)
		if p.ttl >= 0 && (c.ttl < 0 || p.ttl < c.ttl) {
			c.ttl = p.ttl
		}
		if len(c.raw) > lim.Items || c.bytes > lim.Bytes {
			return nil, errTooMany
		}
		if p.cursor == "" {
			return c, nil
		}
		if err := way.on(&p, lim.Barren); err != nil {
			return nil, err
		}
		text, err := jsontext.AppendQuote(nil, p.cursor)
		if err != nil {
			return nil, errShape
		}
		params = slices.Concat([]byte(`{"cursor":`), text, []byte(`}`))
	}
}

// A progress knows what pages brought so far, so that a list that goes in circles
// ends.
type progress struct {
	cursors map[string]bool
	items   map[[sha256.Size]byte]bool
	barren  int
}

func (w *progress) on(p *page, most int) error {
	fresh := false
	for _, it := range p.items {
		h := sha256.Sum256(it)
		fresh = fresh || !w.items[h]
		w.items[h] = true
	}
	if !fresh {
		w.barren++
	}
	switch {
	case w.cursors[p.cursor]:
		return errCursor
	case w.barren >= most:
		return errBarren
	}
	w.cursors[p.cursor] = true
	return nil
}

// page asks for one page. A list that the upstream does not know is empty:
// nothing can be read through it.
func (k *Keeper) page(ctx context.Context, s source, params []byte) (jsontext.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, k.opt.Limits.Page)
	defer cancel()
	f, err := k.opt.Upstream.List(ctx, s.method, params)
	switch {
	case err != nil:
		return nil, err
	case f.Shape == mcp.Failure && f.Error != nil && f.Error.Code == mcp.CodeMethodNotFound:
		return jsontext.Value(`{"` + s.member + `":[]}`), nil
	case f.Shape == mcp.Failure && f.Error != nil:
		return nil, fmt.Errorf("%w: code %d", errRefused, f.Error.Code)
	case f.Shape != mcp.Result:
		return nil, errShape
	}
	return f.Result, nil
}

// parsePage takes a list's result apart. Members that it does not know are left
// alone: they are not shown.
func parsePage(member string, raw jsontext.Value) (p page, err error) {
	var m map[string]jsontext.Value
	if raw.Kind() != '{' || json.Unmarshal(raw, &m) != nil {
		return p, errShape
	}
	if m[member].Kind() != '[' || json.Unmarshal(m[member], &p.items) != nil {
		return p, errShape
	}
	if t, ok := m["resultType"]; ok && string(t) != `"complete"` {
		return p, errShape
	}
	if c, ok := m["nextCursor"]; ok && c.Kind() != 'n' && json.Unmarshal(c, &p.cursor) != nil {
		return p, errShape
	}
	p.ttl = -1
	if t, ok := m["ttlMs"]; ok && t.Kind() == '0' {
		var ms float64
		if json.Unmarshal(t, &ms) != nil || !(ms >= 0) {
			ms = 0 // not understood: believed for no time at all
		}
		p.ttl = time.Duration(min(ms, 1e9)) * time.Millisecond
	}
	return p, nil
}
