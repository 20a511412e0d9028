package proof_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
)

const (
	external = "https://reg.example/pratique"
	path     = "/v1/tools/tool_01JB2Z6T4E9W8K3Q5R7X6Y2ABC"
	tool     = credentials.ToolID("tool_01JB2Z6T4E9W8K3Q5R7X6Y2ABC")
	handle   = "aaaa.bbbb.cccc"
)

var (
	t0   = time.Unix(1_800_000_000, 0)
	body = []byte(`{"name":"pay"}`)
	mdg  = credentials.Digest(sha256.Sum256([]byte("old")))
)

func edKey(t testing.TB) crypto.Signer {
	t.Helper()
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ecKey(t testing.TB) crypto.Signer {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// rig is a checker and one client.
type rig struct {
	t   testing.TB
	c   *proof.Checker
	key crypto.Signer
	jkt credentials.KeyID
}

func newRig(t testing.TB, key crypto.Signer, replay *proof.Replay) *rig {
	t.Helper()
	n, err := proof.NewNonces("replica-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if replay == nil {
		replay = proof.NewReplay(0, 0)
	}
	c, err := proof.NewChecker(external, n, replay)
	if err != nil {
		t.Fatal(err)
	}
	k, err := envelope.NewKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t, c, key, k.ID}
}

func (r *rig) nonce(now time.Time) string {
	r.t.Helper()
	n, err := r.c.Nonces().New(r.jkt, now)
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// overwrite is the request that most tests are about.
func overwrite(now time.Time) proof.Request {
	return proof.Request{Method: "PUT", URL: path, Op: proof.ToolOverwrite, ToolID: tool, Base: mdg, Body: body, Handle: handle, Now: now}
}

func (r *rig) params(q proof.Request) proof.Params {
	return proof.Params{Method: q.Method, URL: external + q.URL, Op: q.Op, ToolID: q.ToolID, Base: q.Base, Body: q.Body,
		Handle: q.Handle, Nonce: r.nonce(q.Now), Now: q.Now}
}

func (r *rig) make(p proof.Params) string {
	r.t.Helper()
	tok, err := proof.Make(r.key, p)
	if err != nil {
		r.t.Fatal(err)
	}
	return tok
}

func b64sum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// good are the claims of a proof for overwrite, to be spoiled.
func (r *rig) good(now time.Time) map[string]any {
	return map[string]any{
		"jti": "0123456789abcdef", "htm": "PUT", "htu": external + path, "iat": now.Unix(), "nonce": r.nonce(now),
		"op": "tool.overwrite", "ath": b64sum(handle), "tool_id": string(tool), "base": mdg.String(),
		"bdg": "sha-256:" + b64sum(string(body)),
	}
}

func sign(t testing.TB, key crypto.Signer, claims any) string {
	t.Helper()
	s, err := envelope.NewProofSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := s.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestCheckAccepts(t *testing.T) {
	for name, key := range map[string]crypto.Signer{"EdDSA": edKey(t), "ES256": ecKey(t)} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, key, nil)
			q := overwrite(t0)
			tok := r.make(r.params(q))
			c, err := r.c.Check(tok, q)
			if err != nil {
				t.Fatal(err)
			}
			if c.Jkt() != r.jkt || c.Op() != q.Op || c.ToolID() != tool || c.Base() != mdg || c.Token() != tok ||
				c.Ath() != sha256.Sum256([]byte(handle)) || c.Body() != sha256.Sum256(body) || c.JTI() == "" || !c.MadeAt().Equal(t0) {
				t.Errorf("confirmed %+v", c)
			}
			if c.Key().ID != r.jkt {
				t.Errorf("key %v", c.Key().ID)
			}
		})
	}
	if c := (proof.Confirmed{}); c.Jkt() != "" || c.Op() != "" {
		t.Error("the zero value confirms something")
	}
}

// TestCheckRefuses spoils one thing at a time; each has its own name, and none
// takes room in the replay set.
func TestCheckRefuses(t *testing.T) {
	other := edKey(t)
	set := func(k string, v any) func(map[string]any) { return func(m map[string]any) { m[k] = v } }
	del := func(k string) func(map[string]any) { return func(m map[string]any) { delete(m, k) } }
	tests := []struct {
		name  string
		spoil func(map[string]any)
		want  error
	}{
		{"other method", set("htm", "POST"), proof.ErrMethod},
		{"method in lower case", set("htm", "put"), proof.ErrMethod},
		{"no method", del("htm"), proof.ErrMethod},
		{"other url", set("htu", external+"/v1/tools/other"), proof.ErrURL},
		{"internal host", set("htu", "http://10.0.0.7:8080/pratique"+path), proof.ErrURL},
		{"without the base path", set("htu", "https://reg.example"+path), proof.ErrURL},
		{"query", set("htu", external+path+"?a=b"), proof.ErrURL},
		{"fragment", set("htu", external+path+"#"), proof.ErrURL},
		{"user", set("htu", "https://me@reg.example/pratique"+path), proof.ErrURL},
		{"no url", del("htu"), proof.ErrURL},
		{"other op", set("op", "tool.revoke"), proof.ErrOp},
		{"no op", del("op"), proof.ErrOp},
		{"other tool", set("tool_id", "tool_01JB2Z6T4E9W8K3Q5R7X6Y2ABD"), proof.ErrTool},
		{"other base", set("base", "sha-256:"+b64sum("new")), proof.ErrBase},
		{"other body", set("bdg", "sha-256:"+b64sum("other")), proof.ErrBody},
		{"other handle", set("ath", b64sum("other")), proof.ErrAth},
		{"no ath", del("ath"), proof.ErrMissing},
		{"no tool", del("tool_id"), proof.ErrMissing},
		{"no base", del("base"), proof.ErrMissing},
		{"no bdg", del("bdg"), proof.ErrMissing},
		{"stale", set("iat", t0.Unix()-66), proof.ErrStale},
		{"ten minutes behind", set("iat", t0.Unix()-600), proof.ErrStale},
		{"future", set("iat", t0.Unix()+66), proof.ErrFuture},
		{"far future", set("iat", 1<<53-1), proof.ErrFuture},
		{"beyond exact integers", set("iat", uint64(1<<53)), proof.ErrClaims},
		{"no iat", del("iat"), proof.ErrClaims},
		{"fraction", set("iat", 1.5), proof.ErrClaims},
		{"text", set("iat", fmt.Sprint(t0.Unix())), proof.ErrClaims},
		{"negative", set("iat", -1), proof.ErrClaims},
		{"short jti", set("jti", "0123456789abcde"), proof.ErrJTI},
		{"long jti", set("jti", strings.Repeat("a", 65)), proof.ErrJTI},
		{"no jti", del("jti"), proof.ErrJTI},
		{"jti with a blank", set("jti", "0123456789abcde "), proof.ErrJTI},
		{"unknown claim", set("exp", t0.Unix()+60), proof.ErrClaims},
		{"claim in other case", set("ATH", b64sum(handle)), proof.ErrClaims},
		{"null", set("ath", nil), proof.ErrClaims},
		{"no nonce", del("nonce"), proof.ErrUseNonce},
		{"empty nonce", set("nonce", ""), proof.ErrUseNonce},
		{"foreign nonce", set("nonce", strings.Repeat("A", 32)), proof.ErrUseNonce},
	}
	replay := proof.NewReplay(0, 0)
	r := newRig(t, edKey(t), replay)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := r.good(t0)
			tt.spoil(m)
			c, err := r.c.Check(sign(t, r.key, m), overwrite(t0))
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if isNonce := tt.want == proof.ErrUseNonce; errors.Is(err, proof.ErrProof) == isNonce {
				t.Errorf("ErrProof: %v", err)
			}
			if c.Jkt() != "" {
				t.Error("confirmed in spite of the error")
			}
		})
	}
	wrong := overwrite(t0)
	wrong.Key = r.jkt
	m := r.good(t0)
	if _, err := r.c.Check(sign(t, other, m), wrong); !errors.Is(err, proof.ErrWrongKey) {
		t.Errorf("other key: %v", err)
	}
	if n := replay.Len(); n != 0 {
		t.Errorf("%d refused proofs were remembered", n)
	}
	if _, err := r.c.Check(sign(t, r.key, r.good(t0)), overwrite(t0)); err != nil {
		t.Errorf("control: %v", err)
	}
}

// TestCheckForm: what the envelope refuses stays refused here, by its name.
func TestCheckForm(t *testing.T) {
	r := newRig(t, edKey(t), nil)
	good := sign(t, r.key, r.good(t0))
	parts := strings.Split(good, ".")
	seg := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	raw, _ := base64.RawURLEncoding.DecodeString(parts[0])
	header := string(raw)
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	twice := strings.Replace(string(payload), `{`, `{"htm":"PUT",`, 1)
	withHeader := func(h string) string { return seg(h) + "." + parts[1] + "." + parts[2] }
	for name, tt := range map[string]struct {
		tok  string
		want error
	}{
		"empty":               {"", envelope.ErrTokenSize},
		"no segments":         {"x", envelope.ErrSegments},
		"line end":            {good + "\n", envelope.ErrBlank},
		"private jwk":         {withHeader(strings.Replace(header, `"kty"`, `"d":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","kty"`, 1)), envelope.ErrPrivateKey},
		"kid beside jwk":      {withHeader(strings.Replace(header, `"alg"`, `"kid":"x","alg"`, 1)), envelope.ErrHeaderMember},
		"handle as proof":     {withHeader(strings.Replace(header, "dpop+jwt", "tool-handle+jwt", 1)), envelope.ErrTyp},
		"alg none":            {withHeader(strings.Replace(header, "EdDSA", "none", 1)), envelope.ErrAlg},
		"alg of another key":  {withHeader(strings.Replace(header, "EdDSA", "ES256", 1)), envelope.ErrAlg},
		"symmetric":           {withHeader(`{"alg":"EdDSA","typ":"dpop+jwt","jwk":{"kty":"oct","k":"AAAA"}}`), envelope.ErrSymmetricKey},
		"low order":           {withHeader(`{"alg":"EdDSA","typ":"dpop+jwt","jwk":{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}`), envelope.ErrKeyPoint},
		"altered payload":     {parts[0] + "." + seg(strings.Replace(string(payload), "0123456789abcdef", "0123456789abcdeg", 1)) + "." + parts[2], envelope.ErrSignature},
		"duplicate claim":     {parts[0] + "." + seg(twice) + "." + parts[2], proof.ErrClaims},
		"iat with exponent":   {parts[0] + "." + seg(strings.Replace(string(payload), "1800000000", "18e8", 1)) + "." + parts[2], proof.ErrClaims},
		"iat as float":        {parts[0] + "." + seg(strings.Replace(string(payload), "1800000000", "1800000000.0", 1)) + "." + parts[2], proof.ErrClaims},
		"iat NaN":             {parts[0] + "." + seg(strings.Replace(string(payload), "1800000000", "NaN", 1)) + "." + parts[2], proof.ErrClaims},
		"signature of zeros":  {parts[0] + "." + parts[1] + "." + strings.Repeat("A", 86), envelope.ErrSignature},
		"longer than allowed": {good + strings.Repeat("A", envelope.MaxToken), envelope.ErrTokenSize},
	} {
		if _, err := r.c.Check(tt.tok, overwrite(t0)); !errors.Is(err, tt.want) || !errors.Is(err, proof.ErrProof) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if _, err := r.c.Check(good, overwrite(t0)); err != nil {
		t.Errorf("control: %v", err)
	}
}

// TestAnotherBody: a proof seen on the wire serves for nothing but its request.
func TestAnotherBody(t *testing.T) {
	r := newRig(t, ecKey(t), nil)
	for name, change := range map[string]struct {
		f    func(*proof.Request)
		want error
	}{
		"body":      {func(q *proof.Request) { q.Body = []byte(`{"name":"pay!"}`) }, proof.ErrBody},
		"no body":   {func(q *proof.Request) { q.Body = nil }, proof.ErrRequest},
		"handle":    {func(q *proof.Request) { q.Handle = "other" }, proof.ErrAth},
		"no handle": {func(q *proof.Request) { q.Handle = "" }, proof.ErrRequest},
		"tool":      {func(q *proof.Request) { q.ToolID = "tool_01JB2Z6T4E9W8K3Q5R7X6Y2ABD" }, proof.ErrTool},
		"base":      {func(q *proof.Request) { q.Base = sha256.Sum256([]byte("newer")) }, proof.ErrBase},
		"method":    {func(q *proof.Request) { q.Method = "DELETE" }, proof.ErrMethod},
		"op":        {func(q *proof.Request) { q.Op = proof.ToolTransfer }, proof.ErrOp},
		"no op":     {func(q *proof.Request) { q.Op = "" }, proof.ErrRequest},
		"path":      {func(q *proof.Request) { q.URL = "/v1/tools" }, proof.ErrURL},
	} {
		q := overwrite(t0)
		tok := r.make(r.params(q))
		change.f(&q)
		if _, err := r.c.Check(tok, q); !errors.Is(err, change.want) {
			t.Errorf("%s: %v, want %v", name, err, change.want)
		}
	}
}

// TestBaseLater: a server that does not know the version yet gets what was
// signed, for its compare-and-swap.
func TestBaseLater(t *testing.T) {
	r := newRig(t, edKey(t), nil)
	q := overwrite(t0)
	tok := r.make(r.params(q))
	q.Base = credentials.Digest{}
	c, err := r.c.Check(tok, q)
	if err != nil || c.Base() != mdg {
		t.Errorf("base %v, %v", c.Base(), err)
	}
	m := r.good(t0)
	m["base"] = "sha-256:short"
	if _, err := r.c.Check(sign(t, r.key, m), q); !errors.Is(err, proof.ErrBase) {
		t.Errorf("no digest: %v", err)
	}
}

// TestOperations: every operation, with each member missing and each surplus
// (RULES.md 27).
func TestOperations(t *testing.T) {
	r := newRig(t, edKey(t), nil)
	if n := len(proof.Ops()); n != 31 {
		t.Errorf("%d operations", n)
	}
	members := map[string]any{"ath": b64sum(handle), "tool_id": string(tool), "base": mdg.String(), "bdg": "sha-256:" + b64sum(string(body))}
	for _, op := range proof.Ops() {
		rule, ok := proof.RuleOf(op)
		if !ok {
			t.Fatalf("%s has no rule", op)
		}
		for _, withBody := range []bool{false, true} {
			if rule.Bdg == proof.Present && !withBody || rule.Bdg == proof.Absent && withBody {
				continue
			}
			q := proof.Request{Method: "POST", URL: "/v1/x", Op: op, Now: t0}
			if rule.Ath == proof.Present {
				q.Handle = handle
			}
			if rule.ToolID == proof.Present {
				q.ToolID = tool
			}
			if rule.Base == proof.Present {
				q.Base = mdg
			}
			if withBody {
				q.Body = body
			}
			want := map[string]bool{"ath": q.Handle != "", "tool_id": q.ToolID != "", "base": !q.Base.IsZero(), "bdg": withBody}
			if _, err := r.c.Check(r.make(r.params(q)), q); err != nil {
				t.Errorf("%s: %v", op, err)
			}
			for spoiled := range members {
				m := map[string]any{"jti": "0123456789abcdef", "htm": "POST", "htu": external + "/v1/x", "iat": t0.Unix(), "nonce": r.nonce(t0), "op": string(op)}
				for name, v := range members {
					if want[name] != (name == spoiled) {
						m[name] = v
					}
				}
				wantErr := proof.ErrSurplus
				if want[spoiled] {
					wantErr = proof.ErrMissing
				}
				if _, err := r.c.Check(sign(t, r.key, m), q); !errors.Is(err, wantErr) || !strings.Contains(err.Error(), spoiled) {
					t.Errorf("%s, %s (body %t): %v, want %v", op, spoiled, withBody, err, wantErr)
				}
			}
		}
	}
	// Those of the brief that act on a tool with its handle.
	for _, op := range []proof.Op{proof.ToolOverwrite, proof.ToolRevoke, proof.ToolTransfer} {
		if rule, _ := proof.RuleOf(op); rule.Ath != proof.Present || rule.Base != proof.Present || rule.ToolID != proof.Present {
			t.Errorf("%s: %+v", op, rule)
		}
	}
	if rule, _ := proof.RuleOf(proof.HandleRenew); rule.Ath != proof.Absent || rule.ToolID != proof.Present {
		t.Errorf("renew: %+v", rule)
	}
	if _, ok := proof.RuleOf("tool.read"); ok {
		t.Error("an unknown operation has a rule")
	}
}

// TestSkew: clocks up to a minute off are accepted, with a nonce of the
// server's time; ten minutes are not (see case O-14 for tokens).
func TestSkew(t *testing.T) {
	r := newRig(t, edKey(t), nil)
	for off, want := range map[time.Duration]error{
		-45 * time.Second: nil, 45 * time.Second: nil, -65 * time.Second: nil, 65 * time.Second: nil,
		-10 * time.Minute: proof.ErrStale, 10 * time.Minute: proof.ErrFuture,
	} {
		q := overwrite(t0)
		p := r.params(q)
		p.Now = t0.Add(off)
		_, err := r.c.Check(r.make(p), q)
		if want == nil && err != nil || !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", off, err, want)
		}
	}
}

func TestMakeRefuses(t *testing.T) {
	key := edKey(t)
	for name, p := range map[string]proof.Params{
		"unknown op":   {Method: "GET", URL: external, Op: "x", Now: t0},
		"no ath":       {Method: "PUT", URL: external, Op: proof.ToolOverwrite, ToolID: tool, Base: mdg, Body: body, Now: t0},
		"surplus base": {Method: "POST", URL: external, Op: proof.HandleRenew, ToolID: tool, Base: mdg, Now: t0},
		"bad url":      {Method: "GET", URL: "ftp://x/", Op: proof.EventsRead, Now: t0},
	} {
		if _, err := proof.Make(key, p); err == nil {
			t.Errorf("%s: made", name)
		}
	}
	if _, err := proof.Make(nil, proof.Params{}); err == nil {
		t.Error("made without a key")
	}
	if _, err := proof.NewChecker("reg.example", nil, nil); err == nil {
		t.Error("a checker without scheme")
	}
	if _, err := proof.NewChecker(external, nil, nil); !errors.Is(err, proof.ErrRequest) {
		t.Error("a checker without nonces")
	}
}

func Example() {
	nonces, _ := proof.NewNonces("replica-1", nil)
	checker, _ := proof.NewChecker("https://reg.example", nonces, proof.NewReplay(0, 0))
	key := ed25519.NewKeyFromSeed(make([]byte, 32)) // the client's
	now := time.Unix(1_800_000_000, 0)

	// What the client sends: the request and a proof for it.
	body := []byte(`{"origin":"https://shop.example"}`)
	params := proof.Params{Method: "POST", URL: "https://reg.example/v1/principals", Op: proof.PrincipalCreate, Body: body, Now: now}
	token, _ := proof.Make(key, params)

	// What the server knows of the request.
	request := proof.Request{Method: "POST", URL: "/v1/principals", Op: proof.PrincipalCreate, Body: body, Now: now}
	_, err := checker.Check(token, request)
	fmt.Println(err)

	var use *proof.NonceError
	if errors.As(err, &use) { // the answer carried a nonce: once more
		params.Nonce = use.Nonce
		token, _ = proof.Make(key, params)
	}
	confirmed, err := checker.Check(token, request)
	fmt.Println(confirmed.Jkt().Principal(), err)
	_, err = checker.Check(token, request)
	fmt.Println(err)
	// Output:
	// proof needs a current nonce of this server
	// prn_9ZP03Nu8GrXPAUkbKNxHOKBzxPX83SShgFkRNK-f2lw <nil>
	// proof refused: proof has been used
}
