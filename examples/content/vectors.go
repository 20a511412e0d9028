package main

import (
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

//go:embed testdata
var data embed.FS

// A Vector is one call that an agent makes.
type Vector struct {
	Name   string         `json:"name"`
	Class  string         `json:"class,omitzero"`  // public, of the attack
	Finds  string         `json:"finds,omitzero"`  // class of the finding; empty: none
	Why    string         `json:"why,omitzero"`    // of a limit: why it passes
	Config string         `json:"config,omitzero"` // "strict": no file that tells CI what to run
	Tool   string         `json:"tool"`
	Args   jsontext.Value `json:"args"`
}

// Load reads a file of vectors and puts in what is made: see expand.
func Load(name string) ([]Vector, error) {
	raw, err := data.ReadFile("testdata/" + name)
	if err != nil {
		return nil, err
	}
	var out []Vector
	for l := range strings.Lines(string(raw)) {
		if l[0] == '#' {
			continue
		}
		var v Vector
		if err := json.Unmarshal([]byte(l), &v, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var args any
		if err := json.Unmarshal(v.Args, &args); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, v.Name, err)
		}
		if v.Args, err = json.Marshal(expandAll(args, v.Name), json.Deterministic(true)); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, v.Name, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func expandAll(v any, name string) any {
	switch v := v.(type) {
	case string:
		return expand(v, name)
	case []any:
		for i := range v {
			v[i] = expandAll(v[i], name)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[expand(k, name)] = expandAll(v[k], name)
		}
		return out
	}
	return v
}

// expand puts in what stands between « and », innermost first: credentials, which are
// made so that none stands in the data, and encodings.
func expand(s, name string) string {
	for {
		end := strings.Index(s, "»")
		if end < 0 {
			return s
		}
		start := strings.LastIndex(s[:end], "«")
		word, rest, _ := strings.Cut(s[start+len("«"):end], " ")
		s = s[:start] + made(word, rest, name) + s[end+len("»"):]
	}
}

func made(word, rest, name string) string {
	switch word {
	case "token":
		prefix, n, _ := strings.Cut(rest, " ")
		return prefix + random(name, n)
	case "random":
		return random(name, rest)
	case "b64":
		return base64.StdEncoding.EncodeToString([]byte(rest))
	case "hex":
		return hex.EncodeToString([]byte(rest))
	case "percent":
		var b strings.Builder
		for i := range len(rest) {
			fmt.Fprintf(&b, "%%%02X", rest[i])
		}
		return b.String()
	case "utf16":
		var b strings.Builder
		for i := range len(rest) {
			b.WriteString(rest[i:i+1] + "\x00")
		}
		return b.String()
	case "entities":
		var b strings.Builder
		for i := range len(rest) {
			fmt.Fprintf(&b, "&#%d;", rest[i])
		}
		return b.String()
	case "fullwidth":
		return strings.Map(func(r rune) rune { return r + 0xfee0 }, rest)
	case "pem":
		body := base64.StdEncoding.EncodeToString([]byte(random(name, "150")))
		return "-----BEGIN " + rest + "-----\n" + body[:64] + "\n" + body[64:128] + "\n" + body[128:] + "\n-----END " + rest + "-----"
	}
	panic("no such word: " + word)
}

// random is so many letters and digits, the same for the same name.
func random(name, n string) string {
	const letters = "kQ7xZ2mV9rT4bN8wL1pS6dF3gH5jYcXaRuEiKoMq"
	count, err := strconv.Atoi(strings.TrimSpace(n))
	if err != nil {
		panic(err)
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	x := h.Sum64()
	b := make([]byte, count)
	for i := range b {
		x = x*6364136223846793005 + 1442695040888963407
		b[i] = letters[x>>33%uint64(len(letters))]
	}
	return string(b)
}
