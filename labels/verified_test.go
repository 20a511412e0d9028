package labels_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
)

const (
	issuer = "https://registry.example"
	toolA  = credentials.ToolID("tool_01JB2Z6T4E9W8K3Q5R7XAAAAAA")
	toolB  = credentials.ToolID("tool_01JB2Z6T4E9W8K3Q5R7XBBBBBB")
	tool   = `{"name":"pay","description":"Pays the basket.","inputSchema":{"type":"object"}}`
)

var t0 = time.Unix(1_800_000_000, 0)

// key is a key made from a seed, so that tests are the same each time.
func key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
}

func kid(seed byte) credentials.KeyID {
	k, err := envelope.NewKey(key(seed).Public())
	if err != nil {
		panic(err)
	}
	return k.ID
}

func signer(typ envelope.Type, seed byte) *envelope.Signer {
	s, err := envelope.NewSigner(typ, key(seed))
	if err != nil {
		panic(err)
	}
	return s
}

// keys is a verifier that knows one key, for labels.
func keys(seed byte) envelope.Verifier {
	k := signer(envelope.Label, seed).Key()
	return envelope.NewVerifier(envelope.KeysFunc(func(typ envelope.Type, id credentials.KeyID) (envelope.Key, error) {
		if typ != envelope.Label || id != k.ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return k, nil
	}))
}

func statement() labels.Statement {
	_, mdg, err := canon.Metadata([]byte(tool))
	if err != nil {
		panic(err)
	}
	return labels.Statement{
		Registered: credentials.NewRegistered(issuer, "abcdefghijklmnopqrstuv", t0, time.Hour),
		Sub:        toolA, Mdg: mdg, Gen: 2, Ver: 7, Own: kid('o'), Org: origin.Must("https://shop.example/mcp"), Name: "pay",
		Prv: credentials.LevelPoP, Tier: labels.Green, Standing: labels.Attested, Content: labels.Inspected, Seq: 40,
	}
}

func shown() labels.Shown {
	return labels.Shown{
		Issuer: issuer, Metadata: []byte(tool), Tool: toolA, Origin: origin.Must("https://shop.example/mcp"),
		Name: "pay", Gen: 2, Ver: 7, Owner: kid('o'), MinSeq: 40,
		Fresh: labels.Freshness{At: t0, MaxStale: time.Hour},
	}
}

func ExampleVerify() {
	st := statement()
	token, err := st.Sign(signer(envelope.Label, 'l'))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := labels.Verify(keys('l'), token, shown(), t0)
	fmt.Println(v.Tier(), v.Tool() == toolA, err)

	swapped := shown()
	swapped.Metadata = []byte(strings.Replace(tool, "Pays the basket.", "Pays me.", 1))
	v, err = labels.Verify(keys('l'), token, swapped, t0)
	fmt.Println(v.Tier(), err)
	// Output:
	// green true <nil>
	// red metadata to be shown is not the metadata that the label is of
}

// A compared is one change to what is shown, and what comes of it.
type compared struct {
	name string
	show func(*labels.Shown)
	want error
}

func comparedMembers() []compared {
	return []compared{
		{"all fits", func(*labels.Shown) {}, nil},
		{"other spelling of the same metadata", func(s *labels.Shown) {
			s.Metadata = []byte(` {"inputSchema": {"type":"\u006fbject"}, "description":"Pays the basket.", "name":"pay"} `)
		}, nil},
		{"less known", func(s *labels.Shown) { s.Name, s.Gen, s.Ver, s.Owner, s.MinSeq = "", 0, 0, "", 0 }, nil},
		{"any tool, any origin", func(s *labels.Shown) { s.Tool, s.Origin, s.AnyTool, s.AnyOrigin = "", origin.Origin{}, true, true }, nil},
		{"nothing", func(s *labels.Shown) { *s = labels.Shown{} }, labels.ErrShown},
		{"no issuer", func(s *labels.Shown) { s.Issuer = "" }, labels.ErrShown},
		{"no tool", func(s *labels.Shown) { s.Tool = "" }, labels.ErrShown},
		{"no origin", func(s *labels.Shown) { s.Origin = origin.Origin{} }, labels.ErrShown},
		{"no metadata", func(s *labels.Shown) { s.Metadata = nil }, labels.ErrShown},
		{"issuer", func(s *labels.Shown) { s.Issuer += "/" }, credentials.ErrIssuer},
		{"tool", func(s *labels.Shown) { s.Tool = toolB }, labels.ErrOtherTool},
		{"tool though any would do", func(s *labels.Shown) { s.Tool, s.AnyTool = toolB, true }, labels.ErrOtherTool},
		{"origin", func(s *labels.Shown) { s.Origin = origin.Must("https://shop.example") }, labels.ErrOtherOrigin},
		{"name", func(s *labels.Shown) { s.Name = "pay2" }, labels.ErrOtherName},
		{"name in the metadata", func(s *labels.Shown) { s.Metadata = []byte(strings.Replace(tool, `"pay"`, `"pay2"`, 1)) }, labels.ErrOtherName},
		{"generation", func(s *labels.Shown) { s.Gen = 3 }, labels.ErrOtherGeneration},
		{"version", func(s *labels.Shown) { s.Ver = 8 }, labels.ErrOtherVersion},
		{"owner", func(s *labels.Shown) { s.Owner = kid('x') }, labels.ErrOtherOwner},
		{"seq", func(s *labels.Shown) { s.MinSeq = 41 }, labels.ErrOldSeq},
	}
}

func comparedMetadata() []compared {
	return []compared{
		{"a description's byte", func(s *labels.Shown) { s.Metadata = []byte(strings.Replace(tool, "basket.", "basket!", 1)) }, labels.ErrOtherMetadata},
		{"a further member", func(s *labels.Shown) { s.Metadata = []byte(strings.Replace(tool, `{"name"`, `{"x":1,"name"`, 1)) }, labels.ErrOtherMetadata},
		{"a duplicate member", func(s *labels.Shown) {
			s.Metadata = []byte(strings.Replace(tool, `{"name"`, `{"name":"pay","name"`, 1))
		}, labels.ErrShownMetadata},
		{"folded name", func(s *labels.Shown) { s.Metadata = []byte(strings.Replace(tool, `"name"`, `"Name"`, 1)) }, labels.ErrShownMetadata},
		{"not an object", func(s *labels.Shown) { s.Metadata = []byte(`["pay"]`) }, labels.ErrShownMetadata},
		{"not JSON", func(s *labels.Shown) { s.Metadata = []byte(`pay`) }, labels.ErrShownMetadata},
		{"invalid UTF-8", func(s *labels.Shown) { s.Metadata = []byte("{\"name\":\"pay\xff\"}") }, labels.ErrShownMetadata},
	}
}

func comparedFreshness() []compared {
	lowered := labels.NewLowered([]labels.Lower{labels.Fell(toolA, 41, t0)}, t0)
	return []compared{
		{"no freshness", func(s *labels.Shown) { s.Fresh = labels.Freshness{} }, labels.ErrStale},
		{"no bound", func(s *labels.Shown) { s.Fresh.At, s.Fresh.MaxStale = t0.Add(-time.Second), 0 }, labels.ErrStale},
		{"at the bound", func(s *labels.Shown) { s.Fresh.At = t0.Add(-time.Hour) }, nil},
		{"past the bound", func(s *labels.Shown) { s.Fresh.At = t0.Add(-time.Hour - time.Second) }, labels.ErrStale},
		{"freshness by a clock ahead", func(s *labels.Shown) { s.Fresh.At = t0.Add(45 * time.Second) }, nil},
		{"freshness from the future", func(s *labels.Shown) { s.Fresh.At = t0.Add(70 * time.Second) }, labels.ErrStale},
		{"lowered", func(s *labels.Shown) { s.Fresh.Lowered, s.Fresh.Digest = lowered, lowered.Digest() }, labels.ErrLowered},
		{"lowered list withheld", func(s *labels.Shown) { s.Fresh.Digest = lowered.Digest() }, labels.ErrLoweredList},
		{"lowered list of another time", func(s *labels.Shown) { s.Fresh.Lowered, s.Fresh.Digest = lowered, labels.Lowered{}.Digest() }, labels.ErrLoweredList},
		{"nothing lowered", func(s *labels.Shown) { s.Fresh.Digest = labels.Lowered{}.Digest() }, nil},
	}
}

// Every member of what is shown is compared, each with its own error.
func TestVerifyComparesEverythingShown(t *testing.T) {
	st := statement()
	token, err := st.Sign(signer(envelope.Label, 'l'))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range slices.Concat(comparedMembers(), comparedMetadata(), comparedFreshness()) {
		t.Run(tt.name, func(t *testing.T) {
			s := shown()
			tt.show(&s)
			v, err := labels.Verify(keys('l'), token, s, t0)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err != nil && (v.Tier() != labels.Red || v.Tool() != "" || v.Metadata() != nil) {
				t.Errorf("a refused label came with something to show: %+v", v)
			}
			if err == nil && (v.Tier() != labels.Green || string(v.Metadata()) == "" || v.Statement() != st) {
				t.Errorf("got %+v", v)
			}
		})
	}
}

// A Red label tells nobody to trust anything: it needs no fresh keys, so that a
// network cut cannot hide it.
func TestRedNeedsNoFreshness(t *testing.T) {
	st := statement()
	st.Tier, st.Standing = labels.Red, labels.Vetoed
	token, err := st.Sign(signer(envelope.Label, 'l'))
	if err != nil {
		t.Fatal(err)
	}
	s := shown()
	s.Fresh = labels.Freshness{}
	if v, err := labels.Verify(keys('l'), token, s, t0); err != nil || v.Tool() != toolA {
		t.Errorf("got %+v, %v", v, err)
	}
	st.Tier, st.Standing, st.Content = labels.Yellow, labels.Unknown, labels.Uninspected
	if token, err = st.Sign(signer(envelope.Label, 'l')); err != nil {
		t.Fatal(err)
	}
	if _, err := labels.Verify(keys('l'), token, s, t0); !errors.Is(err, labels.ErrStale) {
		t.Errorf("yellow with stale keys: %v", err)
	}
}

func TestVerifyTimeAndKeys(t *testing.T) {
	st := statement()
	token, err := st.Sign(signer(envelope.Label, 'l'))
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[time.Duration]error{
		-45 * time.Second: nil, 45 * time.Second: nil, -10 * time.Minute: credentials.ErrNotYet,
		time.Hour + 4*time.Second: nil, time.Hour + 6*time.Second: credentials.ErrExpired,
	} {
		s := shown()
		s.Fresh = labels.Freshness{At: t0.Add(d), MaxStale: time.Minute}
		if _, err := labels.Verify(keys('l'), token, s, t0.Add(d)); !errors.Is(err, want) {
			t.Errorf("clock %v: got %v, want %v", d, err, want)
		}
	}
	if _, err := labels.Verify(keys('m'), token, shown(), t0); !errors.Is(err, envelope.ErrUnknownKey) {
		t.Errorf("other key: %v", err)
	}
	other, err := signer(envelope.Handle, 'l').Sign(&st)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := labels.Verify(keys('l'), other, shown(), t0); !errors.Is(err, envelope.ErrTyp) {
		t.Errorf("other type: %v", err)
	}
}

// The members of a label are exactly these: all required, none of the inspector.
func TestLabelMembersAreClosed(t *testing.T) {
	st := statement()
	text, err := canon.Marshal(&st)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]jsontext.Value
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	want := []string{"content", "exp", "gen", "iat", "iss", "jti", "mdg", "name", "nbf", "org", "own", "prv", "seq", "standing", "sub", "tier", "ver"}
	if got := slices.Sorted(maps.Keys(m)); !slices.Equal(got, want) {
		t.Errorf("members are %v, want %v", got, want)
	}
	sign := func(m map[string]jsontext.Value) error {
		token, err := signer(envelope.Label, 'l').Sign(m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = labels.Verify(keys('l'), token, shown(), t0)
		return err
	}
	if err := sign(m); err != nil {
		t.Fatalf("control: %v", err)
	}
	for k := range m {
		less := maps.Clone(m)
		delete(less, k)
		if err := sign(less); err == nil {
			t.Errorf("without %s: accepted", k)
		}
	}
	for _, k := range []string{"score", "spans", "categories", "inspector", "threshold", "verdict", "aud", "Tier", "withheld"} {
		more := maps.Clone(m)
		more[k] = jsontext.Value(`"x"`)
		if err := sign(more); !errors.Is(err, labels.ErrStatement) {
			t.Errorf("with %s: %v", k, err)
		}
	}
}

// No label says a tier that the table does not give, whoever signed it.
func TestTierIsTheTablesOrRed(t *testing.T) {
	for s := range labels.Attested + 2 {
		for c := range labels.Consistent + 2 {
			for tier := range labels.Green + 2 {
				st := statement()
				st.Standing, st.Content, st.Tier = s, c, tier
				ok := s.Valid() && c.Valid() && (tier == labels.Red || tier == labels.Synthesize(s, c))
				if err := st.Check(); (err == nil) != ok {
					t.Errorf("%v for %v, %v: %v", tier, s, c, err)
				}
			}
		}
	}
}

func TestStatementCheck(t *testing.T) {
	for name, change := range map[string]func(*labels.Statement){
		"iss":          func(s *labels.Statement) { s.Iss = "" },
		"sub":          func(s *labels.Statement) { s.Sub = "pay" },
		"own":          func(s *labels.Statement) { s.Own = "x" },
		"own as prn":   func(s *labels.Statement) { s.Own = credentials.KeyID(kid('o').Principal()) },
		"mdg":          func(s *labels.Statement) { s.Mdg = credentials.Digest{} },
		"gen":          func(s *labels.Statement) { s.Gen = 0 },
		"ver":          func(s *labels.Statement) { s.Ver = 1 << 53 },
		"seq":          func(s *labels.Statement) { s.Seq = 1 << 53 },
		"org":          func(s *labels.Statement) { s.Org = origin.Origin{} },
		"name":         func(s *labels.Statement) { s.Name = "a b" },
		"prv":          func(s *labels.Statement) { s.Prv = 5 },
		"life":         func(s *labels.Statement) { s.Exp = s.Iat + 25*3600 },
		"order":        func(s *labels.Statement) { s.Exp = s.Iat },
		"better":       func(s *labels.Statement) { s.Standing = labels.Pinned },
		"contradicted": func(s *labels.Statement) { s.Tier = labels.Yellow },
	} {
		st := statement()
		change(&st)
		if tok, err := st.Sign(signer(envelope.Label, 'l')); err == nil {
			t.Errorf("%s: signed %s", name, tok)
		}
	}
}

func TestLoweredHasOneText(t *testing.T) {
	a, b := labels.Fell(toolA, 5, t0), labels.Fell(toolB, 9, t0)
	later := labels.Fell(toolA, 12, t0.Add(time.Hour))
	l := labels.NewLowered([]labels.Lower{b, a, later, a}, t0)
	if same := labels.NewLowered([]labels.Lower{later, b}, t0); l.Digest() != same.Digest() || l.Len() != 2 {
		t.Errorf("order or repetition changes the digest: %v, %v", l.All(), same.All())
	}
	if seq, ok := l.Since(toolA); !ok || seq != 12 {
		t.Errorf("Since = %d, %v", seq, ok)
	}
	if _, ok := l.Since("tool_x"); ok {
		t.Error("a tool that is not on the list is")
	}
	again, err := labels.ParseLowered(l.JSON())
	if err != nil || again.Digest() != l.Digest() {
		t.Errorf("parsed again: %v", err)
	}
	if old := labels.NewLowered(l.All(), t0.Add(26*time.Hour)); old.Len() != 0 || old.Digest() != (labels.Lowered{}).Digest() || string(old.JSON()) != "[]" {
		t.Errorf("falls outlive every label: %v", old.All())
	}
	if (labels.Lowered{}).Digest().IsZero() {
		t.Error("the empty list has no digest")
	}
}

func TestParseLoweredIsStrict(t *testing.T) {
	l := labels.NewLowered([]labels.Lower{labels.Fell(toolA, 5, t0), labels.Fell(toolB, 9, t0)}, t0)
	good := string(l.JSON())
	item := good[1 : strings.Index(good, "}")+1]
	for _, bad := range []string{
		"", "null", "{}", " " + good, good + " ", "[" + item + "," + item + "]",
		"[" + item[:len(item)-1] + `,"x":1}]`, strings.Replace(good, "tool_", "prn_", 1), strings.Replace(good, `"seq":5`, `"seq":-5`, 1),
		strings.Replace(good, `"seq":5`, `"seq":5.0`, 1), strings.Replace(good, `"seq":5`, `"seq":null`, 1), `[{"seq":1}]`,
		"[" + good[strings.Index(good, "},")+2:len(good)-1] + "," + item + "]",
	} {
		if _, err := labels.ParseLowered([]byte(bad)); !errors.Is(err, labels.ErrLoweredForm) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func BenchmarkShow(b *testing.B) {
	b.ReportAllocs()
	st := statement()
	token, err := st.Sign(signer(envelope.Label, 'l'))
	if err != nil {
		b.Fatal(err)
	}
	g, err := labels.Open(keys('l'), token)
	if err != nil {
		b.Fatal(err)
	}
	s := shown()
	for b.Loop() {
		if _, err := g.Show(s, t0); err != nil {
			b.Fatal(err)
		}
	}
}
