package api

import (
	"encoding/base64"
	"errors"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/writer"
)

// Pages of lists.
const (
	defaultPage = 100
	maxPage     = 1000
	// maxScan bounds the records that one page looks at. A page may then be
	// short or empty and still have a cursor.
	maxScan = 20_000
)

// query reads query parameters: only known ones, each once.
func (c *call) query() (url.Values, error) {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, errParameter
	}
	for name, vs := range q {
		known := slices.ContainsFunc(c.route.query, func(p parameter) bool { return p.name == name })
		if !known || len(vs) != 1 || len(vs[0]) > 2048 {
			return nil, errParameter
		}
	}
	return q, nil
}

// number reads an integer parameter.
func number(q url.Values, name string, dflt uint64) (uint64, error) {
	s := q.Get(name)
	if s == "" {
		return dflt, nil
	}
	n, err := strconv.ParseUint(s, 10, 53)
	if err != nil {
		return 0, at(name, errParameter)
	}
	return n, nil
}

func pageSize(q url.Values) (int, error) {
	n, err := number(q, "limit", defaultPage)
	if err != nil || n == 0 {
		return 0, at("limit", errParameter)
	}
	return int(min(n, maxPage)), nil
}

// A filter says which tools a listing wants.
type filter struct {
	origin, name, status string
	owner                credentials.KeyID
	after                string // decoded cursor: a tool id, at an origin a name
	limit                int
}

func (c *call) filter() (filter, error) {
	q, err := c.query()
	if err != nil {
		return filter{}, err
	}
	f := filter{name: q.Get("name"), status: q.Get("status")}
	if f.limit, err = pageSize(q); err != nil {
		return f, err
	}
	if s := q.Get("origin"); s != "" {
		o, err := parseOrigin("origin", s)
		if err != nil {
			return f, at("origin", errParameter)
		}
		f.origin = o.String()
	}
	if s := q.Get("owner"); s != "" {
		p, err := credentials.ParsePrincipalID(s)
		if err != nil {
			return f, at("owner", errParameter)
		}
		f.owner = p.Key()
	}
	if f.name != "" && credentials.CheckToolName(f.name) != nil {
		return f, at("name", errParameter)
	}
	if f.status != "" && f.status != "live" && f.status != "revoked" {
		return f, at("status", errParameter)
	}
	cursor, err := base64.RawURLEncoding.DecodeString(q.Get("cursor"))
	if err != nil {
		return f, at("cursor", errParameter)
	}
	f.after = string(cursor)
	if f.after != "" && f.origin == "" {
		if _, err := credentials.ParseToolID(f.after); err != nil {
			return f, at("cursor", errParameter)
		}
	}
	return f, nil
}

// walk is the cheapest order in which the view can give what the filter wants,
// beginning after the cursor.
func (f *filter) walk(v *writer.Snapshot) iter.Seq[*registry.Tool] {
	switch {
	case f.origin != "" && f.name != "":
		return func(yield func(*registry.Tool) bool) {
			if t, err := v.Named(f.origin, f.name); err == nil && f.after == "" {
				yield(t)
			}
		}
	case f.origin != "":
		return v.AtOrigin(f.origin, f.after)
	case f.owner != "":
		return func(yield func(*registry.Tool) bool) {
			for t := range v.OwnedBy(f.owner) { // by id
				if string(t.Row.Tool) > f.after && !yield(t) {
					return
				}
			}
		}
	}
	return v.Tools(credentials.ToolID(f.after))
}

func (f *filter) fits(t *registry.Tool) bool {
	return (f.owner == "" || t.Owner == f.owner) && (f.name == "" || t.Name == f.name) && (f.status == "" || t.Status() == f.status)
}

func (f *filter) cursor(t *registry.Tool) string {
	at := string(t.Row.Tool)
	if f.origin != "" {
		at = t.Name
	}
	return base64.RawURLEncoding.EncodeToString([]byte(at))
}

func (s *Server) listTools(c *call) (*answer, error) {
	f, err := c.filter()
	if err != nil {
		return nil, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	list := registry.ToolList{Tools: []registry.ToolView{}}
	seen := 0
	var last *registry.Tool
	for t := range f.walk(v) {
		if len(list.Tools) == f.limit || seen == maxScan {
			list.Cursor = f.cursor(last)
			break
		}
		seen++
		last = t
		if f.fits(t) {
			list.Tools = append(list.Tools, t.View())
		}
	}
	return ok(list)
}

func (s *Server) showTool(c *call) (*answer, error) {
	id, err := credentials.ParseToolID(c.vars[0])
	if err != nil {
		return nil, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	t, err := v.Tool(id)
	if err != nil {
		return nil, err
	}
	view := t.View()
	if view.Metadata, err = s.metadata(c, t.Digest); err != nil {
		return nil, err
	}
	return ok(view)
}

// metadata is content by digest; the store does not verify it, so this does.
func (s *Server) metadata(c *call, d credentials.Digest) ([]byte, error) {
	b, err := s.opt.Log.Content(c.ctx, d)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errContent
	}
	if err != nil {
		return nil, err
	}
	if canon.Digest(canon.MetadataContext, b) != d {
		return nil, errContent
	}
	return b, nil
}

// listVersions walks a tool's chain of events backwards. Events that judge a
// version do not say which it is, so the walk goes on until one does.
func (s *Server) listVersions(c *call) (*answer, error) {
	id, err := credentials.ParseToolID(c.vars[0])
	if err != nil {
		return nil, err
	}
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	limit, err := pageSize(q)
	if err != nil {
		return nil, err
	}
	limit = min(limit, defaultPage)
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	t, err := v.Tool(id)
	if err != nil {
		return nil, err
	}
	at, err := number(q, "cursor", t.Index)
	if err != nil || at > t.Index {
		return nil, errParameter
	}
	return s.versions(c, t, at, limit)
}

func (s *Server) versions(c *call, t *registry.Tool, index uint64, limit int) (*answer, error) {
	list := registry.VersionList{ID: t.Row.Tool, Versions: []registry.VersionView{}}
	for reads := 0; reads < 4*defaultPage; reads++ {
		e, err := s.event(c, index)
		if err != nil {
			return nil, err
		}
		d, err := toolData(&e)
		if err != nil || d.ID != t.Row.Tool {
			return nil, at("cursor", errParameter)
		}
		full := len(list.Versions) == limit
		if full && list.Cursor == "" {
			list.Cursor = strconv.FormatUint(index, 10)
		}
		if !full {
			list.Versions = append(list.Versions, registry.VersionView{Generation: d.Gen, Version: d.Ver, Digest: d.Mdg,
				Event: e.Type, By: e.By, Index: index, At: time.UnixMilli(e.At).UTC()})
		}
		open := fill(list.Versions, d)
		if d.N <= 1 || full && !open {
			break
		}
		index = d.Last
	}
	return ok(list)
}

// toolData reads what an event says of a tool; of one that judges, or says that it
// was used, Gen and Ver stay 0.
func toolData(e *registry.Event) (d registry.ToolData, err error) {
	switch e.Type {
	case registry.ToolCondemned, registry.ToolReleased:
		var r registry.ReasonData
		err = e.Decode(&r)
		return registry.ToolData{ID: r.Tool, Mdg: r.Mdg, N: r.N, Last: r.Last}, err
	case registry.ToolInspected, registry.ToolObserved:
		var c registry.ConductData
		err = e.Decode(&c)
		return registry.ToolData{ID: c.Tool, Gen: c.Gen, Ver: c.Ver, Mdg: c.Mdg, N: c.N, Last: c.Last}, err
	case registry.ToolUsed:
		var u registry.UsedData
		err = e.Decode(&u)
		return registry.ToolData{ID: u.Tool, N: u.N, Last: u.Last}, err
	}
	err = e.Decode(&d)
	return d, err
}

// fill gives the entries so far what they left unsaid and an older event says;
// open: some still lack it.
func fill(vs []registry.VersionView, d registry.ToolData) (open bool) {
	for i := range vs {
		x := &vs[i]
		if x.Generation == 0 && d.Gen != 0 {
			x.Generation, x.Version = d.Gen, d.Ver
		}
		if x.Digest.IsZero() {
			x.Digest = d.Mdg
		}
		open = open || x.Generation == 0 || x.Digest.IsZero()
	}
	return open
}
