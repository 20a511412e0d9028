package api

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

// keySetDocument is the shape of the key set, for the description.
type keySetDocument = credentials.KeySetDocument

// How long caches may keep the key set, in seconds; each answer's own value
// lies up to a tenth off, so that caches do not all ask at once.
const (
	keySetAge    = 300
	keySetJitter = keySetAge / 10
)

func (s *Server) keySet(c *call) (*answer, error) {
	doc, err := s.opt.Keys.Document(c.ctx, c.now)
	if err != nil {
		return nil, err
	}
	var b [2]byte
	s.random(b[:])
	age := keySetAge - keySetJitter + int(binary.BigEndian.Uint16(b[:]))%(2*keySetJitter+1)
	return c.cached(doc, "application/json", fmt.Sprintf("public, max-age=%d", age)), nil
}

// cached is an answer that caches may keep and ask about again.
func (c *call) cached(raw []byte, kind, control string) *answer {
	sum := sha256.Sum256(raw)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	a := &answer{status: http.StatusOK, raw: raw, kind: kind, header: http.Header{"Cache-Control": {control}, "Etag": {tag}}}
	for t := range strings.SplitSeq(c.r.Header.Get("If-None-Match"), ",") {
		if t = strings.TrimSpace(t); t == tag || t == "W/"+tag || t == "*" {
			a.status, a.raw = http.StatusNotModified, nil
		}
	}
	return a
}

// resourceMetadata is protected resource metadata (RFC 9728). No
// authorization server is named: handles come from registrations, not from
// grants.
type resourceMetadata struct {
	Resource      string                      `json:"resource"`
	Name          string                      `json:"resource_name"`
	JWKS          string                      `json:"jwks_uri"`
	Methods       []string                    `json:"bearer_methods_supported"`
	BoundRequired bool                        `json:"dpop_bound_access_tokens_required"`
	Algs          []string                    `json:"dpop_signing_alg_values_supported"`
	Documentation string                      `json:"resource_documentation"`
	Registration  registry.RegistrationPolicy `json:"pratique_registration"`
}

func (s *Server) resource(c *call) (*answer, error) {
	policy := s.opt.Policy
	if policy == "" {
		policy = registry.PolicyEnrolled
	}
	return &answer{status: http.StatusOK, header: http.Header{"Cache-Control": {"public, max-age=300"}}, value: resourceMetadata{
		Resource: s.opt.ExternalURL, Name: "Pratique registry", JWKS: s.opt.ExternalURL + "/.well-known/jwks.json",
		Methods: []string{"header"}, BoundRequired: true, Algs: []string{"EdDSA", "ES256"},
		Documentation: s.opt.ExternalURL + "/openapi.json", Registration: policy,
	}}, nil
}

// openapi.json is made from the table of routes: go test -run TestOpenAPI -update.
//
//go:embed openapi.json
var openAPI []byte

// Description is the OpenAPI document of the API.
func Description() []byte { return slices.Clone(openAPI) }

func (s *Server) description(c *call) (*answer, error) {
	return c.cached(openAPI, "application/json", "public, max-age=300"), nil
}

// ledger hands over to the log's own handler, whose refusals get the form that
// all refusals have.
func (s *Server) ledger(c *call) (*answer, error) {
	if s.opt.Ledger == nil {
		return nil, registry.ErrNotFound
	}
	w := &ledgerWriter{header: http.Header{}}
	s.opt.Ledger.ServeHTTP(w, c.r)
	switch {
	case w.status == http.StatusNotFound:
		return nil, registry.ErrNotFound
	case w.status == http.StatusBadRequest:
		return nil, errParameter
	case w.status >= 400:
		return nil, errOverload
	}
	return &answer{status: http.StatusOK, raw: w.body, kind: w.header.Get("Content-Type"),
		header: http.Header{"Cache-Control": w.header["Cache-Control"]}}, nil
}

// ledgerWriter keeps an answer until it is known to be none of ours to change.
type ledgerWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *ledgerWriter) Header() http.Header { return w.header }

func (w *ledgerWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *ledgerWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.body == nil {
		w.body = b // the ledger writes once, and does not keep it
		return len(b), nil
	}
	w.body = append(slices.Clip(w.body), b...)
	return len(b), nil
}
