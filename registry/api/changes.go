package api

import (
	"iter"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// labelChange is what the stream says of a tool after the event at index.
func labelChange(v *writer.Snapshot, id credentials.ToolID, index uint64, now time.Time) (registry.LabelChange, bool) {
	t, err := v.Tool(id)
	if err != nil {
		return registry.LabelChange{}, false
	}
	return registry.LabelChange{Tool: id, Seq: index, Tier: tierOf(t, now).String(), Status: t.Status()}, true
}

// changes are the labels that an entry moved. An event about one tool names
// it. One about a principal or an origin moved those tools whose rows say that
// this entry was the last to move them; for others, a later entry follows.
func changes(v *writer.Snapshot, e *registry.Event, index uint64, now time.Time) []registry.LabelChange {
	var out []registry.LabelChange
	one := func(id credentials.ToolID) {
		if c, ok := labelChange(v, id, index, now); ok {
			out = append(out, c)
		}
	}
	each := func(t *registry.Tool) bool {
		if t.Seq == index {
			one(t.Row.Tool)
		}
		return true
	}
	switch e.Type {
	case registry.ToolRegistered, registry.ToolOverwritten, registry.ToolRevoked, registry.ToolTransferred,
		registry.ToolReturned, registry.HandlesRevoked, registry.ToolCondemned, registry.ToolReleased,
		registry.ToolInspected, registry.ToolObserved, registry.ToolUsed:
		if d, err := toolData(e); err == nil {
			one(d.ID)
		}
	case registry.PrincipalCondemned:
		var d registry.ReasonData
		if e.Decode(&d) == nil {
			by(v.Tools(""), d.ID.Key())(each)
		}
	case registry.PrincipalEnrolled:
		var d registry.EnrolledData
		if e.Decode(&d) == nil {
			by(v.AtOrigin(d.Origin, ""), d.ID.Key())(each)
		}
	case registry.OriginCondemned:
		var d registry.ReasonData
		if e.Decode(&d) == nil {
			atSite(v, d.Origin)(each)
		}
	case registry.TopologyRead:
		var d registry.TopologyData
		if e.Decode(&d) == nil {
			v.AtSite(d.Origin)(each)
		}
	}
	return out
}

// by are the tools that a key owns or whose version it put there as a
// delegate: both rest on what is known of it.
func by(tools iter.Seq[*registry.Tool], k credentials.KeyID) iter.Seq[*registry.Tool] {
	return func(yield func(*registry.Tool) bool) {
		for t := range tools {
			if (t.Owner == k || t.Publisher == k) && !yield(t) {
				return
			}
		}
	}
}

// atSite walks the tools that an act about an origin touches: of a web origin
// also those of its endpoints.
func atSite(v *writer.Snapshot, name string) iter.Seq[*registry.Tool] {
	if o, err := origin.Parse(name); err == nil && o.Kind() == origin.Web {
		return v.AtSite(name)
	}
	return v.AtOrigin(name, "")
}
