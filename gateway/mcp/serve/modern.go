package serve

import (
	"context"
	"net/http"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// stateless takes a POST of the era without sessions: it stands alone, says who
// asks, and repeats in its headers what it is about. It is cancelled by closing
// the connection.
func (h *Handler) stateless(w http.ResponseWriter, r *http.Request, who gateway.Agent, f mcp.Frame, rather bool) {
	l := &h.opt.Limits
	if f.Shape != mcp.Request {
		h.aside(w, r, who, f)
		return
	}
	if bad := headers(r.Header, f); bad != nil {
		h.drop(r.Context(), who, dropHeaders, f)
		writeJSON(w, l, http.StatusBadRequest, bad.Bytes())
		return
	}
	hello, bad := helloOf(f)
	if bad != nil {
		writeJSON(w, l, mcp.HTTPStatus(bad.Error.Code), bad.Bytes())
		return
	}
	s, err := h.gw.Stateless(r.Context(), who, hello, viaHTTP)
	if err != nil {
		a, status := unopened(f, hello.Revision, true, err)
		writeJSON(w, l, status, a.Bytes())
		return
	}
	if f.Method == methodCall {
		if bad := params(r.Header, f, s); bad != nil {
			s.Drop(dropHeaders, f)
			writeJSON(w, l, http.StatusBadRequest, bad.Bytes())
			return
		}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(h.ctx, func() { cancel(errEnding) })
	defer stop()
	p := &reply{w: w, r: r, limits: l, st: newStream("", l)}
	if f.Method == methodListen {
		if !h.listening(p, func() { cancel(errEnding) }) {
			fail(w, l, http.StatusServiceUnavailable, errEnding)
			return
		}
		defer h.listened(p)
	}
	p.start(rather)
	a := s.Handle(ctx, f, p)
	status := http.StatusOK
	if a.Shape == mcp.Failure {
		status = mcp.HTTPStatus(a.Error.Code)
	}
	p.finish([]mcp.Frame{a}, false, status)
}

// aside takes what is no request: nothing of it is passed on, since no
// notification of an agent is left in this era over HTTP.
func (h *Handler) aside(w http.ResponseWriter, r *http.Request, who gateway.Agent, f mcp.Frame) {
	_, reason := sort(f)
	if reason == "" {
		reason = dropNotice
	}
	if f.Method != methodCancelled {
		h.drop(r.Context(), who, reason, f)
	}
	w.WriteHeader(http.StatusAccepted)
}

// drop records a frame that stands alone and was not judged.
func (h *Handler) drop(ctx context.Context, who gateway.Agent, reason string, f mcp.Frame) {
	h.log.Warn("serve: dropped a frame", "reason", reason, "agent", who.ID)
	hello, ok, err := mcp.HelloFromMeta(f.Params)
	if err != nil || !ok || !hello.Revision.Modern() {
		hello = mcp.Hello{Revision: mcp.Rev20260728}
	}
	if s, err := h.gw.Stateless(ctx, who, hello, viaHTTP); err == nil {
		s.Drop(reason, f)
	}
}

// headers compares the headers that repeat the body with it (SEP-2243): somebody
// on the way may have judged by the one what is executed by the other.
func headers(h http.Header, f mcp.Frame) *mcp.Frame {
	differ := func(name string) *mcp.Frame {
		a := mcp.Fail(f.ID, mcp.CodeHeaderMismatch, name+" is missing, or says something else than the body", nil)
		return &a
	}
	version, ok := single(h, mcp.HeaderVersion)
	if !ok {
		return differ(mcp.HeaderVersion)
	}
	if meta, there := mcp.Get(f.Params, "_meta", mcp.MetaVersion); there {
		if text, isText := mcp.String(meta); !isText || text != version {
			return differ(mcp.HeaderVersion)
		}
	} else if !mcp.Revision(version).Modern() {
		return differ(mcp.HeaderVersion)
	}
	if !mcp.Revision(version).Modern() {
		return nil // the revision is refused, for what it is
	}
	if method, ok := single(h, mcp.HeaderMethod); !ok || method != f.Method {
		return differ(mcp.HeaderMethod)
	}
	row, ok := mcp.Lookup(f.Method)
	if !ok || row.Header == "" {
		return nil
	}
	name, there := mcp.GetString(f.Params, row.Header)
	said, ok := single(h, mcp.HeaderName)
	if decoded, good := mcp.DecodeHeader(said); ok != there || (there && said != name && (!good || decoded != name)) {
		return differ(mcp.HeaderName)
	}
	return nil
}

// params compares the headers that repeat arguments, as the tool's cleared
// schema asks for them.
func params(h http.Header, f mcp.Frame, s session) *mcp.Frame {
	declared, arguments := s.ParamHeaders(f)
	for _, p := range declared {
		values := h.Values(p.Header)
		value := ""
		if len(values) > 0 {
			value = values[0]
		}
		if len(values) > 1 || !p.Matches(value, len(values) == 1, arguments) {
			a := mcp.Fail(f.ID, mcp.CodeHeaderMismatch, "a header that repeats an argument is missing, or says something else than the body", nil)
			return &a
		}
	}
	return nil
}

func single(h http.Header, name string) (string, bool) {
	v := h[name]
	if len(v) != 1 {
		return "", false
	}
	return v[0], true
}

// listening keeps a subscription's reply until listened, for Drain to end.
func (h *Handler) listening(p *reply, cancel context.CancelFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return false
	}
	h.listens[p] = cancel
	return true
}

func (h *Handler) listened(p *reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.listens, p)
}
