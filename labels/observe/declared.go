package observe

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Declaration is what a tool's own metadata says of its conduct. The zero value
// declares nothing, so that nothing contradicts it.
type Declaration struct {
	ReadOnly bool           // readOnlyHint, and nothing that contradicts it
	Output   jsontext.Value // its outputSchema; nil: none

	names *outline // of members in Output; nil: it names none

	asksUser, asksModel, secrets, moves bool // it says so
}

// Words by which a tool says that it asks, or that it deals with credentials.
// They are many: who says anything of the kind is believed to have said it, and
// nobody is accused for another word.
var (
	userWords = words(`approval approve approves ask asked asking asks authenticate authorise authorization authorize authorizes
		choice choices choose chooses confirm confirmation confirmed confirms consent elicit elicitation eliciting elicits form
		input interactive interactively login prompt prompting prompts question questions signin user wizard`)
	modelWords = words(`agent ai assistant claude completion completions gemini generate generated generates generation gpt llm llms
		model models rewrite sample sampled samples sampling summaries summarise summarize summarizes summary translate`)
	secretWords = words(`apikey auth cert certificate certificates certs config configuration credential credentials dotenv env
		environment key keychain keys kubeconfig login passphrase password passwords pem secret secrets ssh token tokens vault`)
)

// moveWords are those by which a tool says that the lists of its server are others
// after it.
var moveWords = words(`activate activates add adds capabilities connect connects deactivate disable disables discover dynamic enable
	enables extension extensions install installs load loads mount plugin plugins register registers tools toolset toolsets
	unload unregister uninstall`)

// Declare reads a tool's metadata. What is not strict JSON declares nothing.
func Declare(tool []byte) Declaration {
	var t struct {
		Name        string         `json:"name"`
		Title       string         `json:"title"`
		Description string         `json:"description"`
		Annotations jsontext.Value `json:"annotations"`
		Input       jsontext.Value `json:"inputSchema"`
		Output      jsontext.Value `json:"outputSchema"`
	}
	if json.Unmarshal(tool, &t) != nil {
		return Declaration{}
	}
	d := Declaration{ReadOnly: claimsRead(t.Annotations)}
	if t.Output.Kind() == '{' {
		d.Output, d.names = t.Output, outlineOf(t.Output, 0)
	}
	said := words(apart(strings.Join([]string{t.Name, t.Title, t.Description, string(t.Annotations), string(t.Input)}, " ")))
	d.asksUser, d.asksModel = meet(said, userWords), meet(said, modelWords)
	d.secrets, d.moves = meet(said, secretWords), meet(said, moveWords)
	return d
}

// claimsRead tells whether annotations say readOnlyHint true, and not that the
// tool destroys.
func claimsRead(raw jsontext.Value) bool {
	var a struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
	}
	if raw.Kind() != '{' || json.Unmarshal(raw, &a) != nil {
		return false
	}
	return a.ReadOnly != nil && *a.ReadOnly && (a.Destructive == nil || !*a.Destructive)
}

// apart puts a space into humps: apiKey, HTTPProxy's y not.
func apart(s string) string {
	b := make([]byte, 0, len(s)+16)
	for i := range len(s) {
		if i > 0 && s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			b = append(b, ' ')
		}
		b = append(b, s[i])
	}
	return string(b)
}

func meet(a, b map[string]bool) bool {
	for w := range a {
		if b[w] {
			return true
		}
	}
	return false
}

// Questions, as Asked wants them: whom an upstream asks.
const (
	AskUser  = "elicitation/create"
	AskModel = "sampling/createMessage"
	AskRoots = "roots/list"
)

// Asked is the sign that a question is, empty where the tool says that it asks
// so. method is that of the protocol.
func (d *Declaration) Asked(method string) Sign {
	switch {
	case method == AskModel && !d.asksModel:
		return ModelAsked
	case method == AskUser && !d.asksUser && d.ReadOnly:
		return ReadAsked
	case method == AskUser && !d.asksUser:
		return UserAsked
	case method == AskRoots:
		return RootsAsked
	}
	return ""
}

// Moved is the sign that a notification of a change is, empty where it is no
// matter. method is that of the protocol. Resources are what there is to write for
// a tool: one that claims to read makes none, and changes none.
func (d *Declaration) Moved(method string) Sign {
	switch method {
	case "notifications/resources/list_changed", "notifications/resources/updated":
		if d.ReadOnly {
			return ReadWrote
		}
	case "notifications/tools/list_changed", "notifications/prompts/list_changed":
		if !d.moves {
			return ListMoved
		}
	}
	return ""
}
