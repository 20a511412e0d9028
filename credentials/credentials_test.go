package credentials

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const (
	goodKid  = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
	goodULID = "01JB2Z6T4E9W8K3Q5R7X2C4V6B"
	goodJti  = "AAAAAAAAAAAAAAAAAAAAAA"
)

func TestIdentifiers(t *testing.T) {
	parse := map[string]func(string) error{
		"key":       func(s string) error { _, err := ParseKeyID(s); return err },
		"token":     func(s string) error { _, err := ParseTokenID(s); return err },
		"tool":      func(s string) error { _, err := ParseToolID(s); return err },
		"agent":     func(s string) error { _, err := ParseAgentID(s); return err },
		"principal": func(s string) error { _, err := ParsePrincipalID(s); return err },
		"digest":    func(s string) error { _, err := ParseDigest(s); return err },
		"name":      CheckToolName,
	}
	for kind, goods := range map[string][]string{
		"key": {goodKid}, "token": {goodJti, strings.Repeat("x", 64)}, "tool": {"tool_" + goodULID},
		"agent": {"agt_" + goodULID}, "principal": {"prn_" + goodKid},
		"digest": {"sha-256:" + goodKid, Digest{}.String()},
		"name":   {"a", "create_issue", "A-Z.0", strings.Repeat("n", 128)},
	} {
		for _, s := range goods {
			if err := parse[kind](s); err != nil {
				t.Errorf("%s %q: %v", kind, s, err)
			}
		}
	}
	for kind, bads := range map[string][]string{
		"key":       {"", goodKid[:42], goodKid + "A", goodKid[:42] + "=", goodKid[:42] + "+", goodKid + "\n", "../../" + goodKid[:37], strings.Repeat("é", 43)},
		"token":     {"", "short", strings.Repeat("x", 65), "AAAAAAAAAAAAAAA+", goodJti + "\n"},
		"tool":      {"", goodULID, "tool_", "tool_" + strings.ToLower(goodULID), "tool_8" + goodULID[1:], "tool_" + goodULID + "0", "agt_" + goodULID, "tool_" + goodULID[:25] + "U"},
		"agent":     {"", "tool_" + goodULID, "agt_" + goodULID[:25]},
		"principal": {"", goodKid, "prn_", "prn_" + goodKid[:42], "PRN_" + goodKid},
		"digest":    {"", goodKid, "sha256:" + goodKid, "sha-256:" + goodKid[:42], "sha-256:" + goodKid[:42] + "l", "SHA-256:" + goodKid, "sha-256:" + goodKid + "\n"},
		"name":      {"", strings.Repeat("n", 129), "a b", "a/b", "ä", "a\n", "a:b", "\u202ea", "a\x00"},
	} {
		for _, s := range bads {
			if err := parse[kind](s); err == nil {
				t.Errorf("%s %q: accepted", kind, s)
			}
		}
	}
	if KeyID(goodKid).Principal().Key() != goodKid {
		t.Error("principal and key are not one to one")
	}
}

func TestDigestText(t *testing.T) {
	d := Digest{1, 2, 3}
	var back Digest
	text, err := d.MarshalText()
	if err != nil || back.UnmarshalText(text) != nil || back != d || d.IsZero() {
		t.Errorf("%s does not come back", text)
	}
	if err := back.UnmarshalText([]byte("x")); !errors.Is(err, ErrDigest) || back != d {
		t.Errorf("a bad text changed the digest: %v", err)
	}
}

func TestActions(t *testing.T) {
	for _, good := range [][]Action{AllActions(), {Delegate}, {Delegate, Revoke}, {Overwrite}} {
		if err := CheckActions(good); err != nil || !Narrower(good, AllActions()) {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range [][]Action{nil, {}, {Revoke, Delegate}, {Delegate, Delegate}, {"admin"}, {"Delegate"}, {Delegate, "x"}, {""}} {
		if err := CheckActions(bad); !errors.Is(err, ErrAction) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if Narrower([]Action{Delegate, Revoke}, []Action{Delegate}) || !Narrower(nil, nil) {
		t.Error("a child may have more than its parent")
	}
}

func TestLevels(t *testing.T) {
	for i, name := range []string{"none", "pop", "sri", "sig", "srv"} {
		l, err := ParseLevel(name)
		if err != nil || int(l) != i || l.String() != name {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	for _, bad := range []string{"", "PoP", "att", "0"} {
		if l, err := ParseLevel(bad); !errors.Is(err, ErrLevel) || l != LevelNone {
			t.Errorf("%q: %v, %v", bad, l, err)
		}
	}
	if _, err := Level(9).MarshalText(); !errors.Is(err, ErrLevel) {
		t.Error("a level that is none was written")
	}
}

func TestRolesAndStates(t *testing.T) {
	if len(Roles()) != 6 || KnownRole("admin") || KnownRole("") {
		t.Error("roles")
	}
	verifying := []KeyState{KeyPublished, KeyActive, KeyRetiring}
	for _, s := range []KeyState{"", KeyPending, KeyPublished, KeyActive, KeyRetiring, KeyRetired, KeyRevoked, "Active"} {
		if s.Verifies() != slices.Contains(verifying, s) {
			t.Errorf("%q", s)
		}
	}
}

func TestKeyListDigestHasItsContext(t *testing.T) {
	// The digest is part of the wire: it must never change.
	if got := KeyListDigest("token").String(); got != keyListGolden {
		t.Errorf("got %s", got)
	}
}

const keyListGolden = "sha-256:UStN1F3EhQGcyJSLENiS_tL2e7-Bq-pUKZAPNrOu0Hc"
