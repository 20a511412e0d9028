package credentials

import (
	"errors"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func reg(life time.Duration) Registered {
	return NewRegistered("https://registry.example", goodJti, noon, life)
}

// Case O-14: a fresh token is good for verifiers whose clocks are off by 45 s,
// either way, and not for one ten minutes behind.
func TestO14ClockSkew(t *testing.T) {
	r := reg(time.Hour)
	for _, c := range []struct {
		skew time.Duration
		want error
	}{
		{0, nil}, {-45 * time.Second, nil}, {45 * time.Second, nil}, {-65 * time.Second, nil}, {-66 * time.Second, ErrNotYet},
		{-10 * time.Minute, ErrNotYet}, {time.Hour, nil}, {time.Hour + 4*time.Second, nil}, {time.Hour + 5*time.Second, ErrExpired},
		{2 * time.Hour, ErrExpired},
	} {
		if err := r.CheckTime(noon.Add(c.skew), MaxHandleLife); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%v: got %v, want %v", c.skew, err, c.want)
		}
	}
}

func TestTimesAreRequiredAndInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*Registered)
		want error
	}{
		"no iat":              {func(r *Registered) { r.Iat = 0 }, ErrClaims},
		"no nbf":              {func(r *Registered) { r.Nbf = 0 }, ErrClaims},
		"no exp":              {func(r *Registered) { r.Exp = 0 }, ErrClaims},
		"negative exp":        {func(r *Registered) { r.Exp = -1 }, ErrClaims},
		"nbf beyond 2^53":     {func(r *Registered) { r.Nbf = 1 << 62 }, ErrClaims},
		"exp beyond 2^53":     {func(r *Registered) { r.Exp = 1 << 53 }, ErrClaims},
		"nbf before iat":      {func(r *Registered) { r.Nbf = r.Iat - 1 }, ErrClaims},
		"exp before nbf":      {func(r *Registered) { r.Exp = r.Nbf }, ErrClaims},
		"no jti":              {func(r *Registered) { r.Jti = "" }, ErrClaims},
		"jti too long":        {func(r *Registered) { r.Jti = TokenID(make([]byte, 65)) }, ErrClaims},
		"lives too long":      {func(r *Registered) { r.Exp = r.Iat + 86400 + 61 }, ErrLife},
		"lives just so long":  {func(r *Registered) { r.Exp = r.Iat + 86400 + 60 }, nil},
		"iat ahead":           {func(r *Registered) { r.Iat, r.Nbf = r.Iat+120, r.Nbf+120 }, ErrNotYet},
		"nbf ahead":           {func(r *Registered) { r.Nbf += 120 }, ErrNotYet},
		"expired long ago":    {func(r *Registered) { r.Iat, r.Nbf, r.Exp = 1, 1, 2 }, ErrExpired},
		"nbf overflows int64": {func(r *Registered) { r.Nbf = 1<<63 - 1 }, ErrClaims},
	} {
		r := reg(time.Hour)
		c.edit(&r)
		if err := r.CheckTime(noon, MaxHandleLife); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func handle() HandleClaims {
	return HandleClaims{
		Registered: reg(time.Hour), Sub: "prn_" + goodKid, Aud: "https://registry.example", ToolID: "tool_" + goodULID,
		Gen: 1, Ver: 1, Mdg: Digest{1}, Act: AllActions(), Cnf: Confirmation{Jkt: goodKid}, Prv: LevelPoP,
	}
}

func TestHandleClaims(t *testing.T) {
	other := KeyID("BBBB_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
	for name, c := range map[string]struct {
		edit func(*HandleClaims)
		good bool
	}{
		"owner":                      {func(*HandleClaims) {}, true},
		"delegated":                  {func(h *HandleClaims) { h.Par, h.Dpt, h.Cnf.Jkt = goodJti, 1, other }, true},
		"no sub":                     {func(h *HandleClaims) { h.Sub = "" }, false},
		"sub is an e-mail":           {func(h *HandleClaims) { h.Sub = "a@b" }, false},
		"no aud":                     {func(h *HandleClaims) { h.Aud = "" }, false},
		"tool by name":               {func(h *HandleClaims) { h.ToolID = "create_issue" }, false},
		"gen zero":                   {func(h *HandleClaims) { h.Gen = 0 }, false},
		"gen beyond 2^53":            {func(h *HandleClaims) { h.Gen = 1 << 53 }, false},
		"ver zero":                   {func(h *HandleClaims) { h.Ver = 0 }, false},
		"no digest":                  {func(h *HandleClaims) { h.Mdg = Digest{} }, false},
		"no action":                  {func(h *HandleClaims) { h.Act = nil }, false},
		"unknown action":             {func(h *HandleClaims) { h.Act = []Action{"admin"} }, false},
		"no key (bearer)":            {func(h *HandleClaims) { h.Cnf.Jkt = "" }, false},
		"owner with another's key":   {func(h *HandleClaims) { h.Cnf.Jkt = other }, false},
		"parent without depth":       {func(h *HandleClaims) { h.Par = goodJti }, false},
		"depth without parent":       {func(h *HandleClaims) { h.Dpt = 1 }, false},
		"delegated twice":            {func(h *HandleClaims) { h.Par, h.Dpt = goodJti, 2 }, false},
		"parent that is no token id": {func(h *HandleClaims) { h.Par, h.Dpt = "x", 1 }, false},
	} {
		h := handle()
		c.edit(&h)
		if err := h.Check(); (err == nil) != c.good || err != nil && !errors.Is(err, ErrClaims) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeyClaims(t *testing.T) {
	entry := KeyEntry{Kid: goodKid, Role: RoleLabel, Alg: "EdDSA", State: KeyActive}
	list := func(edit func(*KeySetClaims)) error {
		c := KeySetClaims{Registered: reg(time.Hour), Ver: 1, Keys: []KeyEntry{entry}}
		edit(&c)
		return c.Check()
	}
	for name, edit := range map[string]func(*KeySetClaims){
		"no ver": func(c *KeySetClaims) { c.Ver = 0 }, "ver beyond 2^53": func(c *KeySetClaims) { c.Ver = 1 << 53 },
		"no iss": func(c *KeySetClaims) { c.Iss = "" }, "no keys": func(c *KeySetClaims) { c.Keys = nil },
		"too many keys": func(c *KeySetClaims) { c.Keys = make([]KeyEntry, MaxKeys+1) },
		"no kid":        func(c *KeySetClaims) { c.Keys[0].Kid = "" },
		"unknown state": func(c *KeySetClaims) { c.Keys[0].State = "signing" },
		"no state":      func(c *KeySetClaims) { c.Keys[0].State = "" },
		"negative time": func(c *KeySetClaims) { c.Keys[0].Since = -1 },
	} {
		if err := list(edit); !errors.Is(err, ErrClaims) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := list(func(*KeySetClaims) {}); err != nil {
		t.Error(err)
	}
	fresh := FreshnessClaims{Registered: reg(time.Minute), List: Digest{1}, Ver: 1}
	if err := fresh.Check(); err != nil {
		t.Error(err)
	}
	fresh.List = Digest{}
	change := RootChangeClaims{Registered: reg(time.Minute), Ver: 1, New: PublicJWK{X: "x"}}
	if err := change.Check(); err != nil {
		t.Error(err)
	}
	change.Old = change.New
	if err := errors.Join(fresh.Check(), change.Check()); !errors.Is(err, ErrClaims) || fresh.Check() == nil || change.Check() == nil {
		t.Error("incomplete claims were accepted")
	}
}
