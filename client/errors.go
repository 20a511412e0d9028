package client

import (
	"errors"

	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/registry"
)

// A Problem is the body of a refusal (RFC 9457). Code is what to branch on.
type Problem = problem.Problem

// An Error is an answer that is not a success. errors.Is finds the registry's
// sentinel of the same meaning:
//
//	if errors.Is(err, registry.ErrStaleBase) { /* read the tool again */ }
type Error struct{ *Problem }

// Is matches the sentinel that the code stands for, and problems by code.
func (e *Error) Is(target error) bool {
	s, ok := sentinels[e.Code]
	return ok && s == target || e.Problem.Is(target)
}

// Unwrap gives the problem.
func (e *Error) Unwrap() error { return e.Problem }

// Code is the code of the refusal in err; empty if there is none.
func Code(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// Codes that the client itself acts on.
const (
	codeUseNonce     = "use_dpop_nonce"
	codeInvalidToken = "invalid_token"
)

// sentinels are the refusals that the registry's packages name, by the code
// that stands for each on the wire.
var sentinels = map[string]error{
	"not_found":        registry.ErrNotFound,
	"not_owner":        registry.ErrNotOwner,
	"not_operator":     registry.ErrNotOperator,
	"not_observer":     registry.ErrNotObserver,
	"own_tool":         registry.ErrOwnTool,
	"action":           registry.ErrAction,
	"stale_generation": registry.ErrStaleGeneration,
	"stale_base":       registry.ErrStaleBase,
	"tool_revoked":     registry.ErrToolRevoked,
	"name_taken":       registry.ErrNameTaken,
	"name_kept":        registry.ErrNameKept,
	"not_enrolled":     registry.ErrNotEnrolled,
	"too_many":         registry.ErrTooMany,
	"condemned":        registry.ErrCondemned,
	"reserved":         registry.ErrReserved,
	"exists":           registry.ErrExists,
	"bad_acceptance":   registry.ErrNotHeld,
	"spent":            registry.ErrSpent,
	"too_late":         registry.ErrTooLate,
	"unchanged":        registry.ErrUnchanged,
	"gateway_origin":   registry.ErrGatewayOrigin,
	"command_reused":   registry.ErrCommandReused,
	"delegation_depth": registry.ErrDepth,
	"wider":            registry.ErrWider,
	"stale_view":       registry.ErrStaleView,
	"unknown_outcome":  registry.ErrUnknownOutcome,
	"wrong_tool":       registry.ErrTool,
}

// again reports whether the same act may be sent once more: nothing is known of
// its outcome, or the registry was busy.
func again(err error) bool {
	if errors.Is(err, ErrUnreachable) {
		return true
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	switch e.Code {
	case "unknown_outcome", "stale_view", "stale_keys", "overload", "replay_full":
		return true
	case problem.CodeUnexpected: // not the registry's word: something on the way
		return e.Status == 502 || e.Status == 503 || e.Status == 504
	}
	return false
}

// outworn reports whether the handle is what was refused, and a fresh one could
// do: it expired, was revoked, its signing key was, or the generation rose.
func outworn(err error) bool {
	c := Code(err)
	return c == codeInvalidToken || c == "stale_generation"
}
