package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// who may call a route. The zero value is the strictest.
type who uint8

const (
	operator who = iota // an operator's key proves it
	holder              // the key of a handle that is shown proves it
	key                 // any key proves it; the command decides
	anybody
)

// about says where the tool of a proof is named.
type about uint8

const (
	nothing    about = iota
	pathTool         // the first path parameter
	handleTool       // the handle that is shown
)

// A route is one method at one path, with the rules that hold before its
// handler runs and what the API description says of it.
type route struct {
	method string
	path   string // parameters in braces
	op     string // of the proof; empty: none
	who    who
	about  about
	body   int64                      // the longest body, in bytes; 0: none is taken
	stream bool                       // answered by the stream hub, or by follow
	follow func(*Server, *call) error // of a stream that a proof opens
	do     func(*Server, *call) (*answer, error)

	id      string // operationId
	tag     string
	summary string
	query   []parameter
	takes   any    // zero value of the body's type
	gives   any    // zero value of the answer's type
	status  int    // of success
	codes   string // what may go wrong beside what may go wrong for all routes of its kind
}

// A parameter is one query parameter, for the description.
type parameter struct {
	name, text, kind string
	required         bool
}

var (
	paging      = []parameter{{"cursor", "where the page before ended, as it said", "string", false}, {"limit", "most items of the page", "integer", false}}
	originQuery = parameter{"origin", "an origin in its normal form", "string", false}
)

const (
	get  = http.MethodGet
	post = http.MethodPost
	put  = http.MethodPut
	del  = http.MethodDelete
)

// A refusal that any command about a tool that is held can meet.
const heldCodes = "not_found not_owner action stale_generation tool_revoked condemned spent command_reused bad_command "

// A refusal that any command can meet.
const anyCodes = "command_reused bad_command "

func table() []*route {
	return slices.Concat(principalRoutes(), agentRoutes(), toolRoutes(), handleRoutes(), delegationRoutes(),
		topologyRoutes(), labelRoutes(), observationRoutes(), keyRoutes(), eventRoutes(), discoveryRoutes(), resultRoutes())
}

func principalRoutes() []*route {
	const tag = "principals"
	return []*route{
		{method: post, path: "/v1/principals", op: string(proof.PrincipalCreate), who: key, body: maxSmallBody, do: (*Server).createPrincipal,
			id: "createPrincipal", tag: tag, summary: "Create a principal of the key that makes the proof", takes: registry.PrincipalRequest{},
			gives: registry.PrincipalView{}, status: 201, codes: anyCodes + "exists bad_key"},
		{method: get, path: "/v1/principals/{id}", who: anybody, do: (*Server).showPrincipal,
			id: "showPrincipal", tag: tag, summary: "Show a principal", gives: registry.PrincipalView{}, status: 200, codes: "bad_id not_found stale_view"},
		{method: post, path: "/v1/principals/{id}/enrolment", op: string(proof.PrincipalEnrol), body: maxSmallBody, do: (*Server).enrolPrincipal,
			id: "enrolPrincipal", tag: tag, summary: "Enrol a principal for an origin", takes: registry.EnrolRequest{},
			gives: registry.PrincipalView{}, status: 200, codes: anyCodes + "bad_id bad_origin not_found condemned"},
		{method: post, path: "/v1/principals/{id}/condemnation", op: string(proof.PrincipalCondemn), body: maxSmallBody, do: (*Server).condemnPrincipal,
			id: "condemnPrincipal", tag: tag, summary: "Condemn a principal", takes: registry.ReasonRequest{},
			gives: registry.PrincipalView{}, status: 200, codes: anyCodes + "bad_id bad_reason not_found exists"},
		{method: post, path: "/v1/principals/{id}/recovery", op: string(proof.PrincipalRecover), who: key, body: maxSmallBody, do: (*Server).recoverPrincipal,
			id: "recoverPrincipal", tag: tag, summary: "Move all tools of a principal to a new key", takes: registry.RecoverRequest{},
			gives: registry.PrincipalView{}, status: 200, codes: anyCodes + "bad_id bad_key bad_acceptance not_found not_owner exists spent condemned too_many"},
	}
}

func agentRoutes() []*route {
	const tag = "agents"
	return []*route{
		{method: post, path: "/v1/agents", op: string(proof.AgentCreate), body: maxSmallBody, do: (*Server).createAgent,
			id: "createAgent", tag: tag, summary: "Issue a credential for an agent", takes: registry.AgentRequest{},
			gives: registry.AgentView{}, status: 201, codes: anyCodes + "bad_agent"},
		{method: get, path: "/v1/agents", op: string(proof.AgentList), do: (*Server).listAgents,
			id: "listAgents", tag: tag, summary: "List agents", gives: registry.AgentList{}, status: 200},
		{method: del, path: "/v1/agents/{id}", op: string(proof.AgentRevoke), do: (*Server).revokeAgent,
			id: "revokeAgent", tag: tag, summary: "Revoke an agent's credential", gives: registry.AgentView{}, status: 200, codes: anyCodes + "bad_id not_found exists"},
	}
}

func toolRoutes() []*route {
	const tag = "tools"
	const metadata = "bad_name bad_number metadata_too_large nested_too_deep name_mismatch "
	return []*route{
		{method: post, path: "/v1/tools", op: string(proof.ToolRegister), who: key, body: maxRegisterBody, do: (*Server).registerTools,
			id: "registerTools", tag: tag, summary: "Register 1 to 1,000 tools at one origin, all or none", takes: registry.RegisterRequest{},
			gives: registry.RegisterResponse{}, status: 201, codes: anyCodes + metadata + "bad_batch bad_origin gateway_origin name_taken name_kept reserved not_enrolled condemned"},
		{method: get, path: "/v1/tools", who: anybody, do: (*Server).listTools,
			id: "listTools", tag: tag, summary: "List tools", query: append([]parameter{originQuery, {"owner", "a principal's id", "string", false},
				{"name", "a tool's name", "string", false}, {"status", "live or revoked", "string", false}}, paging...),
			gives: registry.ToolList{}, status: 200, codes: "bad_parameter stale_view"},
		{method: get, path: "/v1/tools/{id}", who: anybody, do: (*Server).showTool,
			id: "showTool", tag: tag, summary: "Show a tool with its metadata", gives: registry.ToolView{}, status: 200, codes: "bad_id not_found stale_view"},
		{method: get, path: "/v1/tools/{id}/versions", who: anybody, do: (*Server).listVersions,
			id: "listVersions", tag: tag, summary: "List what happened to a tool, newest first", query: paging,
			gives: registry.VersionList{}, status: 200, codes: "bad_id bad_parameter not_found stale_view"},
		{method: put, path: "/v1/tools/{id}", op: string(proof.ToolOverwrite), who: holder, about: pathTool, body: maxOverwriteBody, do: (*Server).overwriteTool,
			id: "overwriteTool", tag: tag, summary: "Replace a tool's metadata", takes: registry.OverwriteRequest{},
			gives: registry.HandleView{}, status: 200, codes: heldCodes + metadata + "bad_id wrong_tool stale_base unchanged"},
		{method: del, path: "/v1/tools/{id}", op: string(proof.ToolRevoke), who: holder, about: pathTool, do: (*Server).revokeTool,
			id: "revokeTool", tag: tag, summary: "Revoke a tool", gives: registry.ToolView{}, status: 200, codes: heldCodes + "bad_id wrong_tool stale_base"},
		{method: post, path: "/v1/tools/{id}/transfer", op: string(proof.ToolTransfer), who: holder, about: pathTool, body: maxSmallBody, do: (*Server).transferTool,
			id: "transferTool", tag: tag, summary: "Give a tool to a key that accepts it", takes: registry.TransferRequest{},
			gives: registry.ToolView{}, status: 200, codes: heldCodes + "bad_id wrong_tool stale_base bad_key bad_acceptance exists"},
		{method: post, path: "/v1/tools/{id}/transfer/undo", op: string(proof.ToolTransferUndo), who: key, about: pathTool, do: (*Server).undoTransfer,
			id: "undoTransfer", tag: tag, summary: "Take a tool's latest transfer back, within 72 hours",
			gives: registry.ToolView{}, status: 200, codes: anyCodes + "bad_id not_found not_owner tool_revoked too_late"},
		{method: post, path: "/v1/tools/{id}/condemnation", op: string(proof.ToolCondemn), about: pathTool, body: maxSmallBody, do: (*Server).condemnTool,
			id: "condemnTool", tag: tag, summary: "Condemn a tool", takes: registry.ReasonRequest{},
			gives: registry.ToolView{}, status: 200, codes: anyCodes + "bad_id bad_reason not_found exists tool_revoked"},
		{method: post, path: "/v1/tools/{id}/release", op: string(proof.ToolRelease), about: pathTool, body: maxSmallBody, do: (*Server).releaseTool,
			id: "releaseTool", tag: tag, summary: "Release the version of a tool that was read and found good", takes: registry.ReleaseRequest{},
			gives: registry.ToolView{}, status: 200, codes: anyCodes + "bad_id bad_reason bad_digest not_found tool_revoked stale_base"},
	}
}

func handleRoutes() []*route {
	const tag = "handles"
	return []*route{
		{method: post, path: "/v1/tools/{id}/handle", op: string(proof.HandleRenew), who: key, about: pathTool, do: (*Server).renewHandle,
			id: "renewHandle", tag: tag, summary: "Get a fresh handle for a tool by proof of the key alone",
			gives: registry.HandleView{}, status: 200, codes: "bad_id not_found not_owner action tool_revoked condemned"},
		{method: del, path: "/v1/tools/{id}/handles", op: string(proof.HandleRevokeAll), who: holder, about: pathTool, do: (*Server).revokeHandles,
			id: "revokeHandles", tag: tag, summary: "End every handle of a tool", gives: registry.ToolView{}, status: 200, codes: heldCodes + "bad_id wrong_tool"},
		{method: del, path: "/v1/handles/{jti}", op: string(proof.HandleRevoke), who: holder, about: handleTool, do: (*Server).revokeHandle,
			id: "revokeHandle", tag: tag, summary: "End one handle, and what was delegated from it", gives: registry.ToolView{}, status: 200, codes: heldCodes + "bad_id exists"},
	}
}

func delegationRoutes() []*route {
	const tag = "delegations"
	return []*route{
		{method: post, path: "/v1/delegations", op: string(proof.DelegationCreate), who: holder, about: handleTool, body: maxSmallBody, do: (*Server).createDelegation,
			id: "createDelegation", tag: tag, summary: "Make a narrower handle for another key", takes: registry.DelegationRequest{},
			gives: registry.DelegationView{}, status: 201, codes: heldCodes + "bad_key bad_action delegation_depth wider too_late exists"},
		{method: del, path: "/v1/delegations/{jti}", op: string(proof.DelegationRevoke), who: holder, about: handleTool, do: (*Server).revokeDelegation,
			id: "revokeDelegation", tag: tag, summary: "End a delegation", gives: registry.DelegationView{}, status: 200, codes: heldCodes + "bad_id"},
		{method: get, path: "/v1/tools/{id}/delegations", op: string(proof.DelegationList), who: holder, about: pathTool, do: (*Server).listDelegations,
			id: "listDelegations", tag: tag, summary: "List the live delegations of a tool", gives: registry.DelegationList{}, status: 200,
			codes: "bad_id not_found not_owner stale_generation tool_revoked wrong_tool"},
	}
}

func topologyRoutes() []*route {
	const tag = "origins"
	return []*route{
		{method: post, path: "/v1/topologies", op: string(proof.TopologyRead), who: key, body: maxSmallBody, do: (*Server).readTopology,
			id: "readTopology", tag: tag, summary: "Have the registry read an origin's topology now", takes: registry.TopologyRequest{},
			gives: registry.TopologyView{}, status: 200, codes: "bad_origin gateway_origin topology_missing topology_unreachable bad_topology"},
		{method: get, path: "/v1/topologies", who: anybody, do: (*Server).showTopology,
			id: "showTopology", tag: tag, summary: "Show what the registry knows of an origin", query: []parameter{{"origin", "an origin", "string", true}},
			gives: registry.TopologyView{}, status: 200, codes: "bad_parameter bad_origin not_found stale_view"},
		{method: post, path: "/v1/origins/condemnation", op: string(proof.OriginCondemn), body: maxSmallBody, do: (*Server).condemnOrigin,
			id: "condemnOrigin", tag: tag, summary: "Condemn an origin", takes: registry.OriginReasonRequest{},
			gives: registry.TopologyView{}, status: 200, codes: anyCodes + "bad_origin bad_reason exists"},
		{method: get, path: "/v1/contests", op: string(proof.OperatorRead), do: (*Server).listContests,
			id: "listContests", tag: tag, summary: "List names that somebody else claimed too", query: []parameter{originQuery},
			gives: registry.ContestList{}, status: 200, codes: "bad_origin"},
	}
}

func labelRoutes() []*route {
	const tag = "labels"
	return []*route{
		{method: get, path: "/v1/labels/stream", who: anybody, stream: true,
			id: "streamLabels", tag: tag, summary: "Follow changes of labels as server-sent events", gives: registry.LabelChange{}, status: 200, codes: "bad_parameter stale_view"},
		{method: get, path: "/v1/labels/lowered", who: anybody, do: (*Server).listLowered,
			id: "listLowered", tag: tag, summary: "Get the list of lowered labels that a statement of freshness names", query: []parameter{{"digest", "of the list; without it, the newest", "string", false}},
			gives: []labels.Lower{}, status: 200, codes: "bad_parameter bad_digest not_found stale_view"},
		{method: get, path: "/v1/labels/{tool_id}", who: anybody, do: (*Server).showLabel,
			id: "showLabel", tag: tag, summary: "Get a tool's label", gives: registry.LabelView{}, status: 200, codes: "bad_id not_found stale_view"},
		{method: get, path: "/v1/labels", who: anybody, do: (*Server).findLabels,
			id: "findLabels", tag: tag, summary: "Get the labels of the tools that have this metadata", query: []parameter{{"digest", "digest of the metadata", "string", true}},
			gives: registry.LabelList{}, status: 200, codes: "bad_parameter bad_digest stale_view"},
	}
}

func keyRoutes() []*route {
	const tag = "keys"
	return []*route{
		{method: get, path: "/v1/keys", who: anybody, do: (*Server).listKeys,
			id: "listKeys", tag: tag, summary: "List the service's signing keys", gives: registry.KeyList{}, status: 200},
		{method: post, path: "/v1/keys/rotations", op: string(proof.KeyRotate), body: maxSmallBody, do: (*Server).rotateKeys,
			id: "rotateKeys", tag: tag, summary: "Rotate signing keys", takes: registry.RotateRequest{},
			gives: registry.KeyChangeResponse{}, status: 200, codes: "bad_role key_too_early key_state key_conflict root_offline"},
		{method: post, path: "/v1/keys/{kid}/revocation", op: string(proof.KeyRevoke), body: maxSmallBody, do: (*Server).revokeKey,
			id: "revokeKey", tag: tag, summary: "Revoke a signing key at once", takes: registry.ReasonRequest{},
			gives: registry.KeyChangeResponse{}, status: 200, codes: "bad_id bad_reason not_found key_state key_conflict root_offline"},
	}
}

func eventRoutes() []*route {
	const tag = "log"
	return []*route{
		{method: get, path: "/v1/events", who: anybody, do: (*Server).listEvents,
			id: "listEvents", tag: tag, summary: "Read the log", query: []parameter{{"from", "index of the first event", "integer", false}, {"limit", "most events of the page", "integer", false}},
			gives: registry.EventList{}, status: 200, codes: "bad_parameter stale_view"},
		{method: get, path: "/v1/events/{index}", who: anybody, do: (*Server).showEvent,
			id: "showEvent", tag: tag, summary: "Read one entry of the log", gives: registry.EventView{}, status: 200, codes: "bad_id not_found stale_view"},
		{method: get, path: "/v1/events/{index}/proof", who: anybody, do: (*Server).proveEvent,
			id: "proveEvent", tag: tag, summary: "Prove that an entry is in the log of a checkpoint", query: []parameter{{"size", "of the log of the checkpoint; without it, the newest", "integer", false}},
			gives: registry.ProofView{}, status: 200, codes: "bad_id bad_parameter not_found"},
	}
}

func discoveryRoutes() []*route {
	const tag = "discovery"
	return []*route{
		{method: get, path: "/.well-known/jwks.json", who: anybody, do: (*Server).keySet,
			id: "keySet", tag: tag, summary: "The signing keys, signed by the root", gives: keySetDocument{}, status: 200},
		{method: get, path: "/.well-known/oauth-protected-resource", who: anybody, do: (*Server).resource,
			id: "protectedResource", tag: tag, summary: "Protected resource metadata (RFC 9728)", gives: resourceMetadata{}, status: 200},
		{method: get, path: "/openapi.json", who: anybody, do: (*Server).description,
			id: "openapi", tag: tag, summary: "This description", gives: map[string]any{}, status: 200},
		{method: get, path: "/ledger/checkpoint", who: anybody, do: (*Server).ledger,
			id: "ledgerCheckpoint", tag: "log", summary: "The newest checkpoint, a signed note", gives: text(""), status: 200, codes: "not_found"},
		{method: get, path: "/ledger/key", who: anybody, do: (*Server).ledger,
			id: "ledgerKey", tag: "log", summary: "The log's verifier keys, the active one first", gives: text(""), status: 200, codes: "not_found"},
		{method: get, path: "/ledger/tile/{path...}", who: anybody, do: (*Server).ledger,
			id: "ledgerTile", tag: "log", summary: "A tile or entry bundle (C2SP tlog-tiles); the path has slashes", gives: []byte{}, status: 200, codes: "bad_parameter not_found"},
	}
}

// text is an answer that is plain text.
type text string

// routes finds a route by method and path.
type routes struct {
	bySize map[int][]*route // by number of segments
	all    []*route
	parts  map[*route][]string
	deep   []*route // those whose last parameter takes the rest of the path
}

func newRoutes() *routes {
	rs := &routes{bySize: map[int][]*route{}, all: table(), parts: map[*route][]string{}}
	for _, r := range rs.all {
		p := strings.Split(r.path[1:], "/")
		rs.parts[r] = p
		if strings.HasSuffix(r.path, "...}") {
			rs.deep = append(rs.deep, r)
			continue
		}
		rs.bySize[len(p)] = append(rs.bySize[len(p)], r)
	}
	return rs
}

const maxSegments = 8

// find is the route of a method at a path with its parameters; where there is
// none, the methods that there are for the path.
func (rs *routes) find(method, path string) (found *route, vars []string, allowed []string) {
	if path == "" || path[0] != '/' {
		return nil, nil, nil
	}
	segs := strings.SplitN(path[1:], "/", maxSegments+1)
	candidates := rs.bySize[len(segs)]
	if segs[0] == "ledger" {
		candidates = slices.Concat(candidates, rs.deep)
	}
	taken := "" // a literal path takes precedence over a parameter's
	for _, r := range candidates {
		v, ok := match(rs.parts[r], segs)
		if !ok || taken != "" && r.path != taken && strings.Contains(r.path, "{") {
			continue
		}
		if !strings.Contains(r.path, "{") {
			taken = r.path
		}
		if r.method == method {
			return r, v, nil
		}
		allowed = append(allowed, r.method)
	}
	return nil, nil, allowed
}

func match(pattern, segs []string) (vars []string, ok bool) {
	for i, p := range pattern {
		switch {
		case strings.HasSuffix(p, "...}"):
			return append(vars, strings.Join(segs[i:], "/")), len(segs) > i
		case i >= len(segs):
			return nil, false
		case p[0] == '{':
			if segs[i] == "" {
				return nil, false
			}
			vars = append(vars, segs[i])
		case p != segs[i]:
			return nil, false
		}
	}
	return vars, len(pattern) == len(segs)
}
