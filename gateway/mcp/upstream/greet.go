package upstream

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// greet shakes hands: initialize in the legacy era, server/discover in the
// modern one. What was agreed before must be agreed again, since the agent was
// told of it.
func (l *core) greet(ask func(method string, params jsontext.Value) (mcp.Frame, error)) (mcp.Welcome, error) {
	method, params := "initialize", l.hello.Params()
	if l.modern() {
		method, params = "server/discover", l.meta(nil)
	}
	f, err := ask(method, params)
	if err != nil {
		var status *StatusError
		if l.modern() && errors.As(err, &status) && (status.Status == 400 || status.Status == 404 || status.Status == 405) {
			err = both(ErrEra, err) // a server of before says so, each in its way
		}
		return mcp.Welcome{}, err
	}
	if f.Shape != mcp.Result {
		switch f.Error.Code {
		case mcp.CodeMethodNotFound, mcp.CodeInvalidParams, mcp.CodeInvalidRequest, mcp.CodeUnsupportedVersion, mcp.CodeHeaderMismatch:
			return mcp.Welcome{}, fmt.Errorf("%w: %s failed with code %d", ErrEra, method, f.Error.Code)
		}
		return mcp.Welcome{}, fmt.Errorf("%w: %s failed with code %d", ErrProtocol, method, f.Error.Code)
	}
	read := mcp.ParseWelcome
	if l.modern() {
		read = mcp.ParseDiscover
	}
	w, err := read(f.Result)
	if err != nil {
		return mcp.Welcome{}, both(ErrProtocol, err)
	}
	before := l.Welcome().Revision
	if !w.Revision.Known() || w.Revision.Modern() != l.modern() || (before != "" && before != w.Revision) {
		return mcp.Welcome{}, ErrEra
	}
	return w, nil
}

// meta is params with what a stateless request says of the client.
func (l *core) meta(params jsontext.Value) jsontext.Value {
	if _, ok := mcp.Get(params, "_meta"); ok || !l.modern() {
		return params
	}
	out, err := mcp.SetMeta(params, l.hello.Meta(), nil)
	if err != nil {
		return params
	}
	return out
}

// lists tells whether a method may be asked for without a pass.
func lists(method string) bool {
	switch method {
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		return true
	}
	return false
}
