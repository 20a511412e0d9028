package labels_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
)

// A reading is one document as a site serves it.
type reading struct {
	name  string
	doc   func(site origin.Origin) *doc            // what is served as JSON with status 200,
	serve func(http.ResponseWriter, *http.Request) // or how it is served
	err   error                                    // why it is not taken
	fresh string                                   // outcome where nothing was known
	known string                                   // outcome where version 5 of good was known; same as fresh if empty
	kerr  error                                    // err in that case, if another
}

func goodRows() []any {
	return []any{row("checkout", "pop", "server", string(kid('p'))), row("ads.*", "pop", string(kid('a')))}
}

// change is the good document, version 6, with a change.
func change(c func(*doc)) func(origin.Origin) *doc {
	return func(site origin.Origin) *doc {
		d := newDoc(site, 6, goodRows()...)
		c(d)
		return d
	}
}

func rows(rs ...any) func(origin.Origin) *doc {
	return func(site origin.Origin) *doc { return newDoc(site, 6, rs...) }
}

func refused(name string, err error, c func(*doc)) reading {
	return reading{name: name, doc: change(c), err: err, fresh: nothing, known: good}
}

func served(name string, err error, h func(http.ResponseWriter, *http.Request)) reading {
	return reading{name: name, serve: h, err: err, fresh: nothing, known: good}
}

func status(n int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(n)
	}
}

var shop = string(kid('p'))

func readings() []reading {
	return slices.Concat(taken(), badClaims(), badDocuments(), badRows(), badChanges(), undelivered())
}

// taken are the documents that come into force.
func taken() []reading {
	return []reading{
		{name: "good", doc: change(func(*doc) {}), fresh: good},
		{name: "ends in a second", doc: change(func(d *doc) { d.set("exp", t0.Unix()+1) }), fresh: good},
		{name: "wildcard", doc: rows(row("*", "pop", "server", shop)), fresh: good},
		{name: "trailing wildcard", doc: rows(row("check*", "pop", "server", shop)), fresh: good},
		{name: "inner wildcard", doc: rows(row("ch*out", "pop", "server", shop)), fresh: good},
		{name: "wildcard for none", doc: rows(row("checkout*", "pop", "server", shop)), fresh: good},
		{name: "wildcard that does not fit", doc: rows(row("checkout.*", "pop", "server", shop)), fresh: uncovered},
		{name: "other case", doc: rows(row("Checkout", "pop", "server", shop)), fresh: uncovered},
		{name: "no rows", doc: rows(), fresh: uncovered},
		{name: "other names only", doc: rows(row("ads.*", "pop", string(kid('a')))), fresh: uncovered},
		{name: "overlapping rows, all met", doc: rows(row("*", "pop", "server", shop, string(kid('a'))), row("checkout", "pop", "server", shop)), fresh: good},
		{name: "overlapping rows: the narrow one is no exception", doc: rows(row("*", "pop", "server"), row("checkout", "pop", "server", shop)), fresh: serverish},
		{name: "overlapping rows that nobody meets", doc: rows(row("*", "pop", "server"), row("checkout", "pop", shop)), fresh: reserved},
		{name: "overlapping rows: level of one", doc: rows(row("*", "srv", "server", shop), row("checkout", "pop", "server", shop)), fresh: tooLow},
		{name: "wrong publisher", doc: rows(row("checkout", "pop", string(kid('z')))), fresh: reserved},
		{name: "for nobody", doc: rows(row("checkout", "pop")), fresh: reserved},
		{name: "level too low", doc: rows(row("checkout", "srv", "server", shop)), fresh: tooLow},
		{name: "server only", doc: rows(row("checkout", "srv", "server")), fresh: serverish},
		{name: "a key of the server", doc: rows(row("checkout", "srv", "server:"+shop)), fresh: onlyKey},
		{name: "script hash", doc: rows(row("checkout", "sri", "sri:"+script)), fresh: scripts},
		{name: "script key", doc: rows(row("checkout", "sig", "sig:"+scriptKey)), fresh: scripts},
		{name: "script hash where a key is wanted", doc: rows(row("checkout", "sig", "sri:"+script)), fresh: reserved},
		{name: "same version, signed anew", doc: func(site origin.Origin) *doc {
			return newDoc(site, 5, goodRows()...).set("exp", t0.Unix()+2*86400)
		}, fresh: good},
		{name: "changed key, handed over", doc: func(site origin.Origin) *doc {
			d := newDoc(site, 7, row("checkout", "pop", shop))
			d.signer, d.before = 'n', []any{handover(site, 6, 's', 'n')}
			return d
		}, fresh: onlyKey},
		{name: "changed key twice, handed over", doc: func(site origin.Origin) *doc {
			d := newDoc(site, 9, row("checkout", "pop", shop))
			d.signer, d.before = 'm', []any{handover(site, 2, 'r', 's'), handover(site, 6, 's', 'n'), handover(site, 8, 'n', 'm')}
			return d
		}, fresh: onlyKey},
	}
}

// badClaims are refused whatever was known, which stays.
func badClaims() []reading {
	return []reading{
		refused("expired", credentials.ErrExpired, func(d *doc) { d.set("exp", t0.Unix()-30).set("iat", t0.Unix()-3600).set("nbf", t0.Unix()-3600) }),
		refused("future", credentials.ErrNotYet, func(d *doc) { d.set("iat", t0.Unix()+60).set("nbf", t0.Unix()+60) }),
		refused("lives too long", credentials.ErrLife, func(d *doc) { d.set("exp", t0.Unix()+8*86400) }),
		refused("other site", labels.ErrOtherSite, func(d *doc) { d.set("org", "https://other.example").set("iss", "https://other.example") }),
		refused("other port of the site", labels.ErrOtherSite, func(d *doc) { d.set("org", "https://127.0.0.1").set("iss", "https://127.0.0.1") }),
		refused("endpoint as site", labels.ErrSiteClaims, func(d *doc) { d.set("org", d.site.String()+"/mcp").set("iss", d.site.String()+"/mcp") }),
		refused("issued by another", labels.ErrSiteClaims, func(d *doc) { d.set("iss", "https://other.example") }),
		refused("version 0", labels.ErrSiteClaims, func(d *doc) { d.set("ver", 0) }),
		refused("no version", labels.ErrSiteClaims, func(d *doc) { delete(d.claims, "ver") }),
		refused("unknown claim", labels.ErrSiteClaims, func(d *doc) { d.set("default", "accept") }),
		refused("audience", labels.ErrSiteClaims, func(d *doc) { d.set("aud", issuer) }),
		refused("next is no key", labels.ErrSiteClaims, func(d *doc) { d.set("next", "x") }),
		refused("no jti", credentials.ErrClaims, func(d *doc) { delete(d.claims, "jti") }),
		refused("wrong typ", envelope.ErrTyp, func(d *doc) { d.typ = envelope.Label }),
		refused("alg none", envelope.ErrSignature, func(d *doc) {
			d.tamper = func(tok string) string {
				h := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"` + string(kid('s')) + `","typ":"tool-topology+jwt"}`))
				return h + tok[strings.Index(tok, "."):strings.LastIndex(tok, ".")+1]
			}
		}),
		refused("altered", envelope.ErrSignature, func(d *doc) {
			d.tamper = func(tok string) string {
				h, rest, _ := strings.Cut(tok, ".")
				p, sig, _ := strings.Cut(rest, ".")
				raw, _ := base64.RawURLEncoding.DecodeString(p)
				raw = bytes.Replace(raw, []byte("checkout"), []byte("Checkout"), 1)
				return h + "." + base64.RawURLEncoding.EncodeToString(raw) + "." + sig
			}
		}),
	}
}

// badDocuments are refused before their claims are looked at.
func badDocuments() []reading {
	return []reading{
		refused("key is another", envelope.ErrUnknownKey, func(d *doc) { d.key = signer(envelope.Topology, 'z').Key().JWK() }),
		refused("private key shown", envelope.ErrPrivateKey, func(d *doc) {
			d.key = append(bytes.TrimSuffix(signer(envelope.Topology, 's').Key().JWK(), []byte("}")), `,"d":"AAAA"}`...)
		}),
		refused("low-order key", envelope.ErrKeyPoint, func(d *doc) {
			d.key = jsontext.Value(`{"crv":"Ed25519","kty":"OKP","x":"` + strings.Repeat("A", 43) + `"}`)
		}),
		refused("unknown member", labels.ErrTopology, func(d *doc) { d.more = map[string]any{"default": "accept"} }),
		refused("nine handovers", labels.ErrTopology, func(d *doc) {
			for range 9 {
				d.before = append(d.before, handover(d.site, 6, 's', 'n'))
			}
		}),
		refused("duplicate member", labels.ErrTopology, func(d *doc) { d.raw = strings.Replace(d.body(), "{", `{"token":"x",`, 1) }),
		refused("not JSON", labels.ErrTopology, func(d *doc) { d.raw = "<html>" }),
		refused("byte order mark", canon.ErrBOM, func(d *doc) { d.raw = "\ufeff" + d.body() }),
		refused("data follows", canon.ErrTrailing, func(d *doc) { d.raw = d.body() + "{}" }),
		refused("deep", canon.ErrDepth, func(d *doc) { d.raw = strings.Repeat(`{"before":`, 100) + "1" + strings.Repeat("}", 100) }),
		refused("null", labels.ErrTopology, func(d *doc) { d.raw = "null" }),
		refused("empty", labels.ErrTopology, func(d *doc) { d.raw = "{}" }),
	}
}

// badRows are refused for what a row says.
func badRows() []reading {
	return []reading{
		refused("no rows member", labels.ErrRows, func(d *doc) { delete(d.claims, "rows") }),
		refused("duplicate rows", labels.ErrRows, func(d *doc) { d.set("rows", []any{row("a", "pop"), row("a", "srv")}) }),
		refused("two wildcards", labels.ErrPattern, func(d *doc) { d.set("rows", []any{row("*a*", "pop")}) }),
		refused("pattern of other characters", labels.ErrPattern, func(d *doc) { d.set("rows", []any{row("a?", "pop")}) }),
		refused("unknown publisher", labels.ErrPublisher, func(d *doc) { d.set("rows", []any{row("a", "pop", "any")}) }),
		refused("weak script hash", labels.ErrPublisher, func(d *doc) { d.set("rows", []any{row("a", "pop", "sri:sha256-"+strings.Repeat("A", 43)+"=")}) }),
		refused("publisher twice", labels.ErrRows, func(d *doc) { d.set("rows", []any{row("a", "pop", shop, shop)}) }),
		refused("no level", labels.ErrRows, func(d *doc) { d.set("rows", []any{row("a", "none", shop)}) }),
		refused("unknown member of a row", labels.ErrSiteClaims, func(d *doc) { r := row("a", "pop"); r["min"] = 1; d.set("rows", []any{r}) }),
		refused("no actions", labels.ErrRows, func(d *doc) { r := row("a", "pop"); delete(r, "actions"); d.set("rows", []any{r}) }),
		refused("unknown action", labels.ErrRows, func(d *doc) { r := row("a", "pop"); r["actions"] = []string{"read"}; d.set("rows", []any{r}) }),
		refused("1,001 rows", labels.ErrRows, func(d *doc) {
			var rs []any
			for i := range 1001 {
				rs = append(rs, row(fmt.Sprint("t", i), "pop"))
			}
			d.set("rows", rs)
		}),
	}
}

// badChanges are refused only where something was known.
func badChanges() []reading {
	return []reading{
		{name: "rolled back", doc: func(site origin.Origin) *doc { return newDoc(site, 4, row("checkout", "pop", shop)) },
			fresh: onlyKey, known: good, kerr: labels.ErrRolledBack},
		{name: "same version, other rows", doc: func(site origin.Origin) *doc {
			return newDoc(site, 5, row("checkout", "pop", shop)).set("exp", t0.Unix()+2*86400)
		},
			fresh: onlyKey, known: good, kerr: labels.ErrRolledBack},
		{name: "same version, earlier end", doc: func(site origin.Origin) *doc { return newDoc(site, 5, goodRows()...).set("exp", t0.Unix()+60) },
			fresh: good, known: good, kerr: labels.ErrRolledBack},
		{name: "changed key", doc: change(func(d *doc) { d.signer = 'n' }), fresh: onlyKey, known: good, kerr: labels.ErrSiteKey},
		{name: "handed over by a stranger", doc: change(func(d *doc) { d.signer, d.before = 'n', []any{handover(d.site, 6, 'z', 'n')} }),
			fresh: onlyKey, known: good, kerr: labels.ErrSiteKey},
		{name: "handed over to another", doc: change(func(d *doc) { d.signer, d.before = 'n', []any{handover(d.site, 5, 's', 'm')} }),
			fresh: onlyKey, known: good, kerr: labels.ErrSiteKey},
		{name: "handover older than what is known", doc: change(func(d *doc) { d.signer, d.before = 'n', []any{handover(d.site, 4, 's', 'n')} }),
			fresh: onlyKey, known: good, kerr: labels.ErrSiteKey},
		{name: "handover not older than the new", doc: change(func(d *doc) { d.signer, d.before = 'n', []any{handover(d.site, 6, 's', 'n')} }),
			fresh: onlyKey, known: good, kerr: labels.ErrSiteKey},
		{name: "handover from the future", doc: func(site origin.Origin) *doc {
			old := newDoc(site, 6, goodRows()...).set("next", kid('n')).set("iat", t0.Unix()+60).set("nbf", t0.Unix()+60)
			d := newDoc(site, 7, row("checkout", "pop", shop))
			d.signer, d.before = 'n', []any{old.signed()}
			return d
		}, fresh: onlyKey, known: good, kerr: credentials.ErrNotYet},
	}
}

// undelivered is what does not even arrive.
func undelivered() []reading {
	return []reading{
		served("missing", fetch.ErrMissing, status(404)),
		served("gone", fetch.ErrMissing, status(410)),
		served("server error", fetch.ErrStatus, status(503)),
		served("redirect", fetch.ErrRedirect, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://cdn.example/topology", http.StatusFound)
		}),
		served("wrong content type", fetch.ErrType, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") }),
		served("huge", fetch.ErrTooLarge, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(bytes.Repeat([]byte(" "), 300<<10))
		}),
		served("gzip bomb", fetch.ErrEncoding, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 4<<20))
			_ = z.Close()
		}),
		served("slow body", fetch.ErrTimeout, func(w http.ResponseWriter, r *http.Request) {
			status(200)(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}),
	}
}
