package api

import (
	"context"
	"errors"
	"strconv"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/runs"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/writer"
)

// Errors of requests, beyond those of what they ask for.
var (
	errHost          = errors.New("host is none of this registry's names")
	errHeader        = errors.New("header is larger than 16 KiB")
	errNoRoute       = errors.New("no such path")
	errMethod        = errors.New("the path does not take this method")
	errOrigin        = errors.New("pages of this origin may not call this path")
	errQuery         = errors.New("a request that changes something takes no query")
	errEncoding      = errors.New("bodies are taken as they are, not encoded")
	errMediaType     = errors.New("the body must be application/json in UTF-8")
	errBody          = errors.New("this request takes no body")
	errTooLarge      = errors.New("body is larger than this request's may be")
	errBodyBroken    = errors.New("body ended early")
	errAuthorization = errors.New("this request takes a proof alone, no Authorization")
	errNoHandle      = errors.New(`exactly one "Authorization: DPoP <handle>" is needed`)
	errParameter     = errors.New("a query parameter, or Last-Event-ID, is not known, not well formed or out of range")
	errIndex         = errors.New("index is not a number")
	errCommandID     = errors.New("command id is not 16 to 64 characters of [A-Za-z0-9_-]")
	errCommandTwice  = errors.New("Idempotency-Key and the body's command differ, or the header is there twice")
	errMissing       = errors.New("member is required")
	errBatch         = errors.New("a registration holds 1 to 1,000 tools")
	errMetadataSize  = errors.New("metadata of one tool is larger than 1 MiB")
	errName          = errors.New("the metadata has another name than the tool")
	errKey           = errors.New("public key is not usable")
	errReason        = errors.New("reason is 1 to 500 bytes of printable text (200 for a key)")
	errAgent         = errors.New("name and profile are 1 to 128 characters of [A-Za-z0-9_.-]")
	errRole          = errors.New("no such role")
	errOverload      = errors.New("too much is going on; try again")
	errInternal      = errors.New("internal error")
	errContent       = errors.New("stored content does not have its digest")
	errOutcome       = errors.New("outcome lacks the expected event")
)

// Wrappers that say in whose name an error is meant, where the error alone
// could be of several things.
type (
	handleError   struct{ error }
	acceptError   struct{ error }
	reportError   struct{ error }
	topologyError struct{ error }
	originError   struct{ error }
)

func (e *handleError) Unwrap() error   { return e.error }
func (e *acceptError) Unwrap() error   { return e.error }
func (e *reportError) Unwrap() error   { return e.error }
func (e *topologyError) Unwrap() error { return e.error }
func (e *originError) Unwrap() error   { return e.error }

// A code is what programs branch on. It never changes its meaning.
type code struct {
	status int
	title  string
}

// codes are all codes of the API. The description lists them, the tests meet
// every one.
var codes = map[string]code{
	"bad_json":                  {400, "The body is not JSON of the expected shape."},
	"unknown_member":            {400, "The body has a member that is not known."},
	"bad_id":                    {400, "An identifier in the path is not well formed."},
	"bad_parameter":             {400, "A query parameter is not known or not well formed."},
	"bad_command":               {400, "The command id is not well formed, or given twice."},
	"body_not_allowed":          {400, "This request takes no body."},
	"query_not_allowed":         {400, "This request takes no query."},
	"authorization_not_allowed": {400, "This request takes a proof alone, no Authorization."},
	"invalid_token":             {401, "The handle is missing or not good."},
	"invalid_dpop_proof":        {401, "The proof is missing or not one for this request."},
	"use_dpop_nonce":            {401, "The proof needs the nonce that comes with this answer."},
	"not_owner":                 {403, "Only the tool's registrant may do this."},
	"not_operator":              {403, "Only an operator may do this."},
	"not_observer":              {403, "Only an observer that an operator enrolled may do this."},
	"own_tool":                  {403, "Nobody observes a tool of their own."},
	"action":                    {403, "The handle does not carry this action."},
	"wrong_tool":                {403, "The handle is of another tool."},
	"condemned":                 {403, "The principal, origin or tool is condemned."},
	"reserved":                  {403, "The origin's topology gives this name to others."},
	"not_enrolled":              {403, "This registry takes only enrolled registrants."},
	"gateway_origin":            {403, "Nobody registers at this kind of origin, and it has no topology that could be read."},
	"delegation_depth":          {403, "A delegated handle delegates no further."},
	"wider":                     {403, "A delegation must be narrower than the handle it comes from."},
	"foreign_origin":            {403, "Pages of this origin may not call this path."},
	"not_found":                 {404, "There is no such record or path."},
	"topology_missing":          {404, "The origin has no topology."},
	"method_not_allowed":        {405, "The path does not take this method."},
	"stale_generation":          {409, "The handle is of an earlier generation of the tool."},
	"name_taken":                {409, "The name is taken at this origin."},
	"name_kept":                 {409, "The name was revoked and is kept for its last owner."},
	"exists":                    {409, "It is so already."},
	"command_reused":            {409, "The command id was used for another request."},
	"spent":                     {409, "This signed statement was spent before."},
	"unchanged":                 {409, "The metadata is that of the current version."},
	"too_late":                  {409, "The time for this has passed."},
	"key_too_early":             {409, "The key cannot move yet."},
	"key_state":                 {409, "The key's state does not allow this."},
	"key_conflict":              {409, "The keys were changed meanwhile; look again."},
	"root_offline":              {409, "The root key is offline, and this needs it."},
	"tool_revoked":              {410, "The tool was revoked."},
	"stale_base":                {412, "The base is not the digest of the tool's current version."},
	"body_too_large":            {413, "The body is larger than this request's may be."},
	"unsupported_media_type":    {415, "The body must be plain application/json in UTF-8."},
	"wrong_host":                {421, "This server does not answer for this host."},
	"invalid_text":              {422, "Text is not valid UTF-8, or has half a surrogate pair, U+0000 or a byte order mark."},
	"duplicate_member":          {422, "An object has two members of one name."},
	"nested_too_deep":           {422, "Arrays and objects are nested too deep."},
	"bad_number":                {422, "A number would change on its way through a 64-bit float."},
	"metadata_too_large":        {422, "The metadata of one tool is larger than 1 MiB."},
	"bad_name":                  {422, "The tool's name is not 1 to 128 characters of [A-Za-z0-9_.-]."},
	"name_mismatch":             {422, "The metadata has another name than the tool."},
	"bad_batch":                 {422, "A registration holds 1 to 1,000 tools."},
	"bad_origin":                {422, "The origin is not well formed."},
	"bad_key":                   {422, "The public key is missing or not usable."},
	"bad_action":                {422, "The actions are none, not known, repeated or out of order."},
	"bad_digest":                {422, "The digest is missing or not well formed."},
	"bad_reason":                {422, "The reason is missing, too long or not printable."},
	"bad_agent":                 {422, "The agent's name or profile is not well formed."},
	"bad_role":                  {422, "There is no such key role."},
	"bad_acceptance":            {422, "The recipient's acceptance is not good or not of this transfer."},
	"bad_observation":           {422, "The observation is not good, or not one of this tool for this registry."},
	"bad_topology":              {422, "The origin's topology is not good; what was known before stays."},
	"too_many":                  {429, "Too many requests, or a quota is reached."},
	"header_too_large":          {431, "The header is larger than 16 KiB."},
	"internal":                  {500, "Something went wrong on our side."},
	"topology_unreachable":      {502, "The origin's topology could not be read."},
	"overload":                  {503, "Too much is going on; nothing was tried."},
	"replay_full":               {503, "Too many proofs in a short time; nothing was tried."},
	"stale_keys":                {503, "The key ring could not be read in time; nothing is decided."},
	"stale_view":                {503, "The registry's view is stale; nothing is decided."},
	"unknown_outcome":           {503, "The outcome is not known; retry with the same command id."},
}

// A mapping leads from an error to its code. say: the error's text may be
// shown; it names no secret, and nothing below this program.
type mapping struct {
	err  error
	code string
	say  bool
}

// mappings are tried in order: what says more goes first. What is in none of
// them is internal and shows nothing.
var mappings = []mapping{
	{registry.ErrUnknownOutcome, "unknown_outcome", false},
	{registry.ErrStaleView, "stale_view", false},
	{keyring.ErrStale, "stale_keys", false},
	{writer.ErrOverload, "overload", false},
	{writer.ErrClosed, "overload", false},
	{proof.ErrReplaySetFull, "replay_full", false},
	{proof.ErrUseNonce, "use_dpop_nonce", false},
	{proof.ErrRequest, "internal", false},
	{proof.ErrProof, "invalid_dpop_proof", true},
	{registry.ErrAth, "invalid_dpop_proof", true},
	{registry.ErrHolder, "invalid_token", true},
	{registry.ErrTool, "wrong_tool", false},
	{registry.ErrNotFound, "not_found", true},
	{runs.ErrEnded, "not_found", true},
	{runs.ErrNoResult, "not_found", true},
	{runs.ErrAct, "bad_observation", false},
	{runs.ErrLimit, "too_many", false},
	{registry.ErrNotOwner, "not_owner", false},
	{registry.ErrNotOperator, "not_operator", true},
	{registry.ErrNotObserver, "not_observer", false},
	{registry.ErrOwnTool, "own_tool", false},
	{registry.ErrAction, "action", false},
	{registry.ErrStaleGeneration, "stale_generation", false},
	{registry.ErrStaleBase, "stale_base", false},
	{registry.ErrHandleRevoked, "invalid_token", true},
	{registry.ErrKeyNotUsable, "invalid_token", true},
	{registry.ErrToolRevoked, "tool_revoked", false},
	{registry.ErrNameTaken, "name_taken", true},
	{registry.ErrNameKept, "name_kept", true},
	{registry.ErrNotEnrolled, "not_enrolled", false},
	{registry.ErrTooMany, "too_many", true},
	{registry.ErrCondemned, "condemned", false},
	{registry.ErrReserved, "reserved", true},
	{registry.ErrExists, "exists", true},
	{registry.ErrNotHeld, "bad_acceptance", true},
	{registry.ErrSpent, "spent", false},
	{registry.ErrTooLate, "too_late", false},
	{registry.ErrUnchanged, "unchanged", false},
	{registry.ErrGatewayOrigin, "gateway_origin", false},
	{registry.ErrCommandReused, "command_reused", false},
	{registry.ErrDepth, "delegation_depth", false},
	{registry.ErrWider, "wider", false},
	{errHost, "wrong_host", false},
	{errHeader, "header_too_large", false},
	{errNoRoute, "not_found", true},
	{errMethod, "method_not_allowed", false},
	{errOrigin, "foreign_origin", false},
	{errQuery, "query_not_allowed", false},
	{errEncoding, "unsupported_media_type", true},
	{errMediaType, "unsupported_media_type", true},
	{errBody, "body_not_allowed", false},
	{errTooLarge, "body_too_large", false},
	{errBodyBroken, "bad_json", true},
	{errAuthorization, "authorization_not_allowed", false},
	{errNoHandle, "invalid_token", true},
	{errParameter, "bad_parameter", false},
	{errIndex, "bad_id", true},
	{errCommandID, "bad_command", true},
	{errCommandTwice, "bad_command", true},
	{errBatch, "bad_batch", false},
	{errMetadataSize, "metadata_too_large", false},
	{errName, "name_mismatch", false},
	{errKey, "bad_key", true},
	{errReason, "bad_reason", true},
	{errAgent, "bad_agent", true},
	{errRole, "bad_role", false},
	{errOverload, "overload", false},
	{keyring.ErrNotFound, "not_found", true},
	{keyring.ErrTooEarly, "key_too_early", true},
	{keyring.ErrState, "key_state", true},
	{keyring.ErrNoSuccessor, "key_state", true},
	{keyring.ErrConflict, "key_conflict", false},
	{keyring.ErrRootOffline, "root_offline", true},
	{credentials.ErrToolName, "bad_name", true},
	{credentials.ErrDigest, "bad_digest", false},
	{credentials.ErrAction, "bad_action", false},
	{credentials.ErrToolID, "bad_id", true},
	{credentials.ErrPrinID, "bad_id", true},
	{credentials.ErrAgentID, "bad_id", true},
	{credentials.ErrTokenID, "bad_id", true},
	{credentials.ErrKeyID, "bad_id", true},
	{canon.ErrDuplicate, "duplicate_member", false},
	{canon.ErrDepth, "nested_too_deep", false},
	{canon.ErrNumber, "bad_number", true},
	{canon.ErrUTF8, "invalid_text", true},
	{canon.ErrSurrogate, "invalid_text", true},
	{canon.ErrNUL, "invalid_text", true},
	{canon.ErrBOM, "invalid_text", true},
	{canon.ErrMember, "unknown_member", false},
	{canon.ErrSyntax, "bad_json", true},
	{canon.ErrEmpty, "bad_json", true},
	{canon.ErrTrailing, "bad_json", true},
	{canon.ErrControl, "bad_json", true},
	{canon.ErrNotObject, "bad_json", true},
	{canon.ErrNull, "bad_json", true},
	{canon.ErrShape, "bad_json", true},
	{canon.ErrSize, "body_too_large", false},
	{errMissing, "bad_json", true},
	{fetch.ErrRated, "too_many", true},
	{fetch.ErrMissing, "topology_missing", false},
	{ledger.ErrRange, "not_found", false},
	{store.ErrNotFound, "not_found", false},
	{context.DeadlineExceeded, "overload", false},
	{context.Canceled, "overload", false},
}

// classify finds the code of an error and the text that may be shown.
func classify(err error) (name, detail string) {
	// Whose error it is goes before which it is.
	if e, ok := errors.AsType[*acceptError](err); ok {
		return "bad_acceptance", e.Error()
	}
	if e, ok := errors.AsType[*reportError](err); ok {
		return "bad_observation", e.Error()
	}
	if e, ok := errors.AsType[*topologyError](err); ok {
		return "bad_topology", e.Error()
	}
	if e, ok := errors.AsType[*originError](err); ok {
		return "bad_origin", e.Error()
	}
	shown := err
	if e, ok := errors.AsType[*fieldError](err); ok {
		shown = e.err
	}
	for _, m := range mappings {
		if errors.Is(err, m.err) {
			if e, ok := errors.AsType[*handleError](err); ok && m.code == "bad_id" {
				return "invalid_token", e.Error() // an id inside a handle, not in the path
			}
			if m.say {
				detail = shown.Error()
			}
			return m.code, detail
		}
	}
	if e, ok := errors.AsType[*handleError](err); ok {
		return "invalid_token", e.Error()
	}
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return "topology_unreachable", e.Error()
	}
	return "internal", ""
}

// remedies are what a person can do about a refusal.
var remedies = map[string]string{
	"invalid_token":    "Renew the handle with the key alone: POST /v1/tools/{id}/handle.",
	"stale_generation": "Renew the handle with the key alone: POST /v1/tools/{id}/handle.",
	"stale_base":       "Read the tool again and decide on what it is now.",
	"use_dpop_nonce":   "Make a new proof with the nonce.",
	"not_observer":     "Ask an operator to enrol the principal as an observer.",
	"not_enrolled":     "Ask an operator to enrol the principal for the origin.",
	"unknown_outcome":  "Send the same request with the same command id again.",
	"name_taken":       "Choose another name; both claims are shown to the operator.",
}

// problem is the answer to an error.
func (c *call) problem(err error) *problem.Problem {
	name, detail := classify(err)
	k := codes[name]
	p := problem.New(k.status, name, k.title)
	p.Detail, p.Instance, p.Remedy = detail, c.id, remedies[name]
	if e, ok := errors.AsType[*fieldError](err); ok {
		p.Field = e.field
	}
	if e, ok := errors.AsType[*proof.NonceError](err); ok {
		p.Nonce = e.Nonce
	}
	if e, ok := errors.AsType[*keyring.EarlyError](err); ok {
		p.Earliest = e.At.UTC()
	}
	if k.status == 429 || k.status == 503 {
		p.RetryAfter = 1
	}
	if k.status == 401 {
		// RFC 9449 section 7.1 and RFC 9728 section 5.1. The title has no quotes.
		c.w.Header().Set("WWW-Authenticate", `DPoP error="`+name+`", error_description="`+k.title+
			`", algs="EdDSA ES256", resource_metadata="`+c.s.opt.ExternalURL+`/.well-known/oauth-protected-resource"`)
	}
	if name == "stale_base" || name == "stale_generation" {
		p.Current = c.current(name)
	}
	return p
}

// current is what a stale request should have been about; it is public.
func (c *call) current(name string) string {
	v, err := c.s.opt.Record.View()
	if err != nil {
		return ""
	}
	t, err := v.Tool(c.proof.ToolID())
	switch {
	case err != nil:
		return ""
	case name == "stale_base":
		return t.Digest.String()
	}
	return strconv.FormatUint(t.Gen, 10)
}
