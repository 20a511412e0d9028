package mcp

import "net/http"

// Error codes of JSON-RPC 2.0 and of MCP.
const (
	CodeParse          int64 = -32700
	CodeInvalidRequest int64 = -32600
	CodeMethodNotFound int64 = -32601
	CodeInvalidParams  int64 = -32602
	CodeInternal       int64 = -32603

	CodeResourceNotFound   int64 = -32002 // legacy era; the modern one says CodeInvalidParams
	CodeHeaderMismatch     int64 = -32020 // header and body differ, or a header is missing
	CodeMissingCapability  int64 = -32021
	CodeUnsupportedVersion int64 = -32022
	CodeURLElicitation     int64 = -32042
)

// Error codes of our own, in the range that is left to implementations (-32000 to
// -32019), beside those that SDKs use there.
const (
	CodeRefused  int64 = -32010 // by policy or gate: the same call again is refused again
	CodeRetry    int64 = -32011 // not yet: the same call may be let through later
	CodeHeld     int64 = -32012 // was carried out, and what came back is kept from the agent
	CodeTooLarge int64 = -32013 // an answer beyond the bound
	CodeUpstream int64 = -32014 // the upstream is gone, silent or not understood
)

// HTTPStatus is the status that the modern era demands for an answer with the
// code (SEP-2575, SEP-2243); 200 for all others.
func HTTPStatus(code int64) int {
	switch code {
	case CodeMethodNotFound:
		return http.StatusNotFound
	case CodeParse, CodeInvalidRequest, CodeInvalidParams, CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
