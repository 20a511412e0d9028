package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/labels"
)

func TestVerifyOffline(t *testing.T) {
	epoch := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	now := epoch
	f := newFake(t, func() time.Time { return now })
	doc := f.document()
	good, red := f.labelOf(nil), f.labelOf(func(s *labels.Statement) { s.Tier = labels.Red })
	list := labels.NewLowered([]labels.Lower{labels.Fell(toolPay, 11, epoch)}, epoch)
	f.set(func() { f.lowered = list })
	docLow := f.document()
	kid := f.activeKid(credentials.RoleLabel)
	for _, c := range []struct {
		name    string
		label   string
		meta    string
		doc     []byte
		after   time.Duration
		edit    func(*client.OfflineOptions)
		want    error
		checked bool
	}{
		{"good", good, metaPay, doc, 0, nil, nil, true},
		{"line ends around it", "\ufeff" + good + "\r\n", metaPay, doc, 0, nil, nil, true},
		{"pinned", good, metaPay, doc, 0, func(o *client.OfflineOptions) { o.Roots = []credentials.KeyID{f.root()} }, nil, true},
		{"pinned to another", good, metaPay, doc, 0, func(o *client.OfflineOptions) { o.Roots = []credentials.KeyID{keyOf(t, "x").ID} }, keyset.ErrRoot, false},
		{"tool and origin", good, metaPay, doc, 0, func(o *client.OfflineOptions) { o.Tool, o.Origin = toolPay, originShop }, nil, true},
		{"another tool", good, metaPay, doc, 0, func(o *client.OfflineOptions) { o.Tool = toolOther }, labels.ErrOtherTool, false},
		{"another origin", good, metaPay, doc, 0, func(o *client.OfflineOptions) { o.Origin = "https://evil.example" }, labels.ErrOtherOrigin, false},
		{"another issuer", good, metaPay, doc, 0, func(o *client.OfflineOptions) { o.Issuer = "https://evil.example" }, credentials.ErrIssuer, false},
		{"other metadata", good, strings.Replace(metaPay, "Pays", "Pays!", 1), doc, 0, nil, labels.ErrOtherMetadata, false},
		{"blank inside", good[:40] + " " + good[40:], metaPay, doc, 0, nil, envelope.ErrBlank, false},
		{"altered", altered(good), metaPay, doc, 0, nil, envelope.ErrSignature, false},
		{"14 min old", good, metaPay, doc, 14 * time.Minute, nil, nil, true},
		{"16 min old", good, metaPay, doc, 16 * time.Minute, nil, keyset.ErrStale, false},
		{"an hour old, two allowed", good, metaPay, doc, time.Hour, func(o *client.OfflineOptions) { o.MaxStale = 2 * time.Hour }, nil, true},
		{"label expired", good, metaPay, doc, 13 * time.Hour, func(o *client.OfflineOptions) { o.MaxStale = 24 * time.Hour }, credentials.ErrExpired, false},
		{"red", red, metaPay, doc, 0, nil, nil, true},
		{"list not given", good, metaPay, docLow, 0, nil, nil, false},
		{"list given", good, metaPay, docLow, 0, func(o *client.OfflineOptions) { o.Lowered = list.JSON() }, labels.ErrLowered, false},
		{"another list", good, metaPay, docLow, 0, func(o *client.OfflineOptions) { o.Lowered = labels.Lowered{}.JSON() }, labels.ErrLoweredList, false},
		{"no document", good, metaPay, nil, 0, nil, keyset.ErrDocument, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			now = epoch.Add(c.after)
			o := client.OfflineOptions{Now: func() time.Time { return now }}
			if c.edit != nil {
				c.edit(&o)
			}
			r, err := client.VerifyOffline(c.label, []byte(c.meta), c.doc, &o)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err != nil {
				if s, ok := errors.AsType[*keyset.StaleError](err); errors.Is(c.want, keyset.ErrStale) && (!ok || s.Age != c.after) {
					t.Errorf("the age is not told: %v", err)
				}
				return
			}
			if r.Age != c.after || r.LoweredChecked != c.checked || r.Pinned != (len(o.Roots) > 0) || r.Root != f.root() || r.Kid != kid {
				t.Errorf("report: %+v", r)
			}
			if r.Verified.Tool() != toolPay {
				t.Error("nothing was verified")
			}
		})
	}
}

// altered is a token with one character of its signature changed.
func altered(token string) string {
	b := []byte(token)
	if i := len(b) - 40; b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}
