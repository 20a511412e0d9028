package serve

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Methods that serve itself must know.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodPing        = "ping"
	methodDiscover    = "server/discover"
	methodListen      = "subscriptions/listen"
	methodCall        = "tools/call"
)

var bom = []byte("\xef\xbb\xbf")

// parse decodes what an agent sent. What cannot be read at all, and an array
// where the revision has none, is an error for the whole of it.
func parse(data []byte, rev mcp.Revision, lim mcp.Limits) ([]mcp.Frame, bool, *mcp.FrameError) {
	if bytes.HasPrefix(data, bom) {
		// Some readers skip it and some do not: no frame begins with one.
		return nil, false, &mcp.FrameError{Code: mcp.CodeInvalidRequest, Err: mcp.ErrFrame}
	}
	if !rev.Batches() {
		f, err := mcp.ParseOne(data, lim)
		if err != nil {
			return nil, false, frameError(err)
		}
		return []mcp.Frame{f}, false, nil
	}
	fs, batch, err := mcp.Parse(data, lim)
	if err != nil {
		return nil, batch, frameError(err)
	}
	return fs, batch, nil
}

func frameError(err error) *mcp.FrameError {
	var fe *mcp.FrameError
	if errors.As(err, &fe) {
		return fe
	}
	return &mcp.FrameError{Code: mcp.CodeParse, Err: mcp.ErrSyntax}
}

// answers tells whether a broken text wants an answer at all. One with a null id
// is no notification: whoever wrote the member waits.
func answers(fe *mcp.FrameError) bool {
	switch fe.Shape {
	case mcp.Request, mcp.NoFrame:
		return true
	case mcp.Notification:
		return errors.Is(fe, mcp.ErrID)
	}
	return false
}

// dropped is why a frame that is refused for its form was not judged.
func dropped(fe *mcp.FrameError) string {
	if errors.Is(fe, mcp.ErrNoBatch) {
		return dropBatch
	}
	return dropBroken
}

// A deed is what becomes of a frame that is no request.
type deed uint8

const (
	toDrop deed = iota
	toNotice
	toCancel
	toAnswer // a question of ours
)

// sort tells what becomes of a frame that is no request, and why if it is
// dropped. The table knows; nothing is passed on that is not in it.
func sort(f mcp.Frame) (deed, string) {
	switch f.Shape {
	case mcp.Result, mcp.Failure:
		return toAnswer, dropOrphan
	case mcp.Notification:
		if f.Method == methodCancelled {
			return toCancel, ""
		}
		m, ok := mcp.Lookup(f.Method)
		switch {
		case !ok:
			return toDrop, dropNotice
		case !m.Notification:
			return toDrop, dropNoID
		case m.Agent == mcp.Refused:
			return toDrop, dropNotice
		}
		return toNotice, ""
	}
	return toDrop, dropBroken
}

// cancelled is the id that a notification of a cancellation names; empty: none.
func cancelled(f mcp.Frame) mcp.ID {
	v, ok := mcp.Get(f.Params, "requestId")
	if !ok || len(v) == 0 || (v[0] != '"' && v[0] != '-' && (v[0] < '0' || v[0] > '9')) {
		return ""
	}
	return mcp.ID(v)
}

// refusal is the answer to a request that opens refused.
func refusal(id mcp.ID, err error) (mcp.Frame, string) {
	switch {
	case errors.Is(err, errTwice):
		return mcp.Fail(id, mcp.CodeInvalidRequest, "a request with this id is still open", nil), dropTwice
	case errors.Is(err, errTooMany):
		return mcp.Fail(id, mcp.CodeRetry, "too many requests are open", nil), dropTooMany
	}
	return mcp.Fail(id, mcp.CodeRetry, "the gateway is stopping", nil), dropTooMany
}

// stateless tells whether a request names a revision, as those of the modern era
// do, each of them.
func stateless(f mcp.Frame) bool {
	_, ok := mcp.Get(f.Params, "_meta", mcp.MetaVersion)
	return ok
}

// helloOf is what a stateless request says of its sender, or the answer to one
// that does not say enough.
func helloOf(f mcp.Frame) (mcp.Hello, *mcp.Frame) {
	hello, ok, err := mcp.HelloFromMeta(f.Params)
	if err != nil || !ok {
		a := mcp.Fail(f.ID, mcp.CodeInvalidParams, "params._meta must have "+mcp.MetaVersion+" and "+mcp.MetaCapabilities, nil)
		return hello, &a
	}
	if !hello.Revision.Modern() {
		a := mcp.UnsupportedVersion(f.ID, string(hello.Revision), modern)
		return hello, &a
	}
	return hello, nil
}

var modern = []mcp.Revision{mcp.Rev20260728}

func legacy() []mcp.Revision {
	var rs []mcp.Revision
	for _, r := range mcp.Revisions() {
		if r.Legacy() {
			rs = append(rs, r)
		}
	}
	return rs
}

// unopened is the answer to a request for which the gateway has no session, and
// its HTTP status. In the era of sessions that is an initialize; else any request.
func unopened(f mcp.Frame, requested mcp.Revision, stateless bool, err error) (mcp.Frame, int) {
	switch {
	case errors.Is(err, gateway.ErrEra) && stateless && f.Method == methodDiscover:
		// What a server of the era of sessions says: clients take it as the sign to
		// begin anew with initialize, and end at an unsupported version.
		return mcp.Fail(f.ID, mcp.CodeMethodNotFound, "the upstream has sessions: begin with initialize", nil), mcp.HTTPStatus(mcp.CodeMethodNotFound)
	case errors.Is(err, gateway.ErrEra):
		others := modern
		if stateless {
			others = legacy()
		}
		return mcp.UnsupportedVersion(f.ID, string(requested), others), http.StatusBadRequest
	case errors.Is(err, gateway.ErrCredential):
		return mcp.Fail(f.ID, mcp.CodeRefused, "this agent's credential is not valid any more", nil), http.StatusUnauthorized
	case errors.Is(err, gateway.ErrBusy):
		return mcp.Fail(f.ID, mcp.CodeRetry, "too many sessions of this agent are open", nil), http.StatusTooManyRequests
	case errors.Is(err, gateway.ErrNotNow):
		return mcp.Fail(f.ID, mcp.CodeRetry, "not now; try again", nil), http.StatusServiceUnavailable
	case errors.Is(err, gateway.ErrClosed):
		return mcp.Fail(f.ID, mcp.CodeRetry, "the gateway is stopping", nil), http.StatusServiceUnavailable
	case errors.Is(err, gateway.ErrUnreachable):
		return mcp.Fail(f.ID, mcp.CodeUpstream, "the upstream does not answer", nil), http.StatusBadGateway
	}
	return mcp.Fail(f.ID, mcp.CodeInternal, "no session could be opened", nil), http.StatusInternalServerError
}
