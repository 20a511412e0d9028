package arch

// Order is the way that imports go.
const Order = "internal < credentials < labels < quarantine < registry < gateway, client, web < cmd, examples"

// Layers number the first elements of paths by Order. A test-only package of the
// root (docs, README) may import anything.
var Layers = map[string]int{
	"internal": 0, "credentials": 1, "labels": 2, "quarantine": 3, "registry": 4,
	"gateway": 5, "client": 5, "web": 5,
	"cmd": 6, "examples": 6,
	"docs": 7, ".": 7,
}

// Programs are commands outside of cmd: nobody imports them, so they may import
// whatever a command may.
var Programs = map[string]bool{"internal/train": true}

const (
	jose = "github.com/go-jose/go-jose/v4"
	jwx  = "github.com/lestrrat-go/jwx/v2"
)

// Rules are the imports that are forbidden, each with its reason.
var Rules = []Rule{
	{
		Of:     []string{"registry/ledger/...", "registry/store/..."},
		Never:  []string{"credentials/...", "labels/...", "quarantine/...", "registry", "registry/state/...", "registry/writer/...", "registry/api/..."},
		Reason: "log and store keep bytes; knowing what they mean would let meaning decide what is kept",
	},
	{
		Of: []string{"..."}, Except: []string{"registry/state/..."}, Tests: true,
		Never:  []string{"github.com/hashicorp/go-memdb"},
		Reason: "go-memdb enforces no unique secondary index: one place checks, and one place is read to believe it",
	},
	{
		Of: []string{"..."}, Except: []string{"cmd/...", "examples/..."}, Tests: true,
		Never:  []string{"github.com/urfave/cli/..."},
		Reason: "a library that parses flags is no library; cli/v2 also ignores flags after arguments, which cmd guards against once",
	},
	{
		Of: []string{"..."}, Except: []string{"labels/policy/..."}, Tests: true,
		Never:  []string{"cel.dev/cel-go/...", "github.com/google/cel-go/..."},
		Reason: "conditions are compiled where their errors are turned into refusals and their cost is bounded: nowhere else",
	},
	{
		Of: []string{"..."}, Except: []string{"credentials/envelope", "credentials/proof", "credentials/keyring"}, Tests: true,
		Never:  []string{jose + "/..."},
		Reason: "go-jose makes and opens behind the pre-check only; whoever else wants a token opened takes an envelope.Verifier",
	},
	{
		Of: []string{"..."}, Never: []string{jose + "/jwt"}, Tests: true,
		Reason: "its validation tolerates 60 s and passes when exp, aud or iss are absent; ours is exact (credentials.Registered)",
	},
	{
		Of: []string{"..."}, Except: []string{"credentials/keyset"}, Tests: true,
		Never:  []string{jwx + "/..."},
		Reason: "jwx/v2 gets no security fixes any more: it is confined to where pre-check, strict loader and recover stand before it",
	},
	{
		Of: []string{"credentials/keyset"}, Tests: true,
		Never:  []string{jwx, jwx + "/jwt/...", jwx + "/jwe/...", jwx + "/cert/...", jwx + "/x25519/..."},
		Reason: "of jwx only jws, jwk and jwa are used: its jwt accepts tokens without exp, and the rest is only attack surface",
	},
	{
		Of: []string{"quarantine/inspect/..."}, Reach: true,
		Never:  []string{"net", "os/exec", "plugin", "credentials/keyring/...", "registry/...", "gateway/...", "client/...", "internal/fetch/..."},
		Reason: "the inspector reads hostile content: it has no network, process, key or record to turn against us",
	},
	{
		Of: []string{"quarantine/warden/..."}, Reach: true,
		Never:  []string{"credentials/keyring/...", "registry/...", "gateway/...", "client/..."},
		Reason: "whoever keeps the inspector apart needs no key of ours and no record: what is judged goes in, a verdict comes out",
	},
	{
		Of:     []string{"quarantine/warden"},
		Never:  []string{"net", "net/http/...", "crypto/tls"},
		Reason: "only the broker beside it talks to a model: the code that children share has no network to turn to",
	},
	{
		Of: []string{"client/..."}, Reach: true,
		Never:  []string{"registry/state/...", "registry/store/...", "registry/writer/...", "registry/api/...", "credentials/keyring/...", "github.com/hashicorp/go-memdb/...", "modernc.org/sqlite/..."},
		Reason: "a client does not pull in the server: it stays small, and nothing in it can be mistaken for the record",
	},
	{
		Of:     []string{"..."},
		Except: []string{"credentials/keyring/...", "registry/...", "gateway/...", "cmd/...", "examples/..."},
		Never:  []string{"credentials/keyring/..."},
		Reason: "only the service sees its private keys: registry and gateway sign, nobody else",
	},
	{
		Of: []string{"labels/..."}, Reach: true,
		Never:  []string{"net/http/...", "os/exec", "registry/..."},
		Reason: "what a label comes to is a pure function of evidence, asked of nobody",
	},
	{
		Of:     []string{"credentials/...", "labels/...", "quarantine/...", "registry", "registry/state/...", "registry/store/...", "registry/writer/..."},
		Except: []string{"quarantine/warden/..."},
		Never:  []string{"net/http/..."},
		Reason: "no HTTP below registry/api: what is decided must not depend on how it was asked",
	},
	{
		Of: []string{"internal/canon/...", "internal/problem/...", "internal/durable/...", "internal/secret/...", "internal/origin/..."}, Reach: true,
		Never:  []string{"os/exec", jose + "/...", jwx + "/..."},
		Reason: "the ground everything stands on starts nothing and trusts no token library",
	},
	{
		Of:     []string{"..."},
		Except: []string{"internal/problem", "internal/arch", "credentials/internal/vectortest/...", "examples/benchpolicy"}, // the last as a yardstick
		Never:  []string{"encoding/json", "encoding/gob"},
		Reason: "encoding/json folds case and takes the last of two members; internal/canon reads JSON strictly",
	},
	{
		Of: []string{"..."}, Except: []string{"credentials/envelope", "credentials/keyset", "credentials/internal/vectortest"},
		Never:  []string{"credentials/internal/form"},
		Reason: "the form is half a pre-check; envelope.Precheck is the whole one",
	},
	{
		Of: []string{"..."}, Except: []string{"credentials/internal/vectortest/gen"},
		Never:  []string{"credentials/internal/vectortest", "registry/store/storetest"},
		Reason: "test kits are for tests: they hold known private keys, and engines that lose data on purpose",
	},
	{
		Of: []string{"..."}, Except: []string{"internal/mcptest/...", "examples/..."},
		Never:  []string{"internal/mcptest/..."},
		Reason: "a scripted server that lies, floods and swaps its tools is for tests, and for the examples that show what becomes of it",
	},
	{
		Of:     []string{"gateway/mcp"},
		Never:  []string{"credentials/...", "labels/...", "quarantine/...", "registry/...", "gateway/...", "os/exec"},
		Reason: "the words of the wire judge nothing and open nothing: both sides and the path share them",
	},
	{
		Of:     []string{"gateway/surface", "quarantine/gate"},
		Never:  []string{"gateway", "gateway/mcp/serve", "gateway/mcp/upstream", "net/http/...", "os/exec"},
		Reason: "the gate's state is reached by the path, and reaches nothing itself but what it was handed",
	},
	{
		Of: []string{"registry/decisions/..."}, Reach: true,
		Never:  []string{"gateway/...", "os/exec"},
		Reason: "replay judges a call again and has no upstream to repeat it on",
	},
	{
		Of: []string{"..."}, Never: []string{"internal/arch", "github.com/stretchr/testify/...", "math/rand"}, Tests: true,
		Except: []string{"internal/arch"},
		Reason: "the architecture test imports, and is not imported; tests use the standard library and math/rand/v2",
	},
}

// JosePair are the two libraries that must never meet in one package.
var (
	JosePair   = [2][]string{{jose + "/..."}, {jwx + "/..."}}
	PairReason = "each library checks the other; in one package one could be taken for both"
)
