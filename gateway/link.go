package gateway

import "errors"

// Errors of links. Whoever implements Link and Upstream wraps these; the path
// tells from them what became of a call. One that is not ErrUnsent may have been
// executed.
var (
	ErrUnsent       = errors.New("gateway: nothing was sent to the upstream") // beside another one
	ErrLost         = errors.New("gateway: the connection to the upstream was lost")
	ErrTimeout      = errors.New("gateway: the upstream did not answer in time")
	ErrTooLarge     = errors.New("gateway: the upstream's answer is larger than the bound")
	ErrBadAnswer    = errors.New("gateway: the upstream's answer is not MCP")
	ErrUpstreamBusy = errors.New("gateway: too many requests to the upstream are open")
)
