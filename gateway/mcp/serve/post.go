package serve

import (
	"context"
	"net/http"
	"sync"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// post takes a POST of either era. One that names a session is of the era of
// sessions, whatever it says else; one that names a revision in its _meta, or
// that of the other era in its header, is of the other.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, who gateway.Agent) {
	l := &h.opt.Limits
	if status, err := written(r); err != nil {
		fail(w, l, status, err)
		return
	}
	asJSON, asStream, rather := accepts(r.Header["Accept"])
	if !asJSON || !asStream {
		fail(w, l, http.StatusNotAcceptable, errAccept)
		return
	}
	var s *httpSession
	if len(r.Header[mcp.HeaderSession]) > 0 && !mcp.Revision(r.Header.Get(mcp.HeaderVersion)).Modern() {
		if s = h.known(w, r, who); s == nil {
			return
		}
		defer s.leave()
	}
	body, status, err := h.body(w, r)
	if err != nil {
		if status == http.StatusRequestEntityTooLarge {
			w.Header().Set("Connection", "close") // the rest of it is not read
		}
		fail(w, l, status, err)
		return
	}
	if s != nil {
		s.post(w, r, body, rather)
		return
	}
	f, fe := one(body, l)
	if fe != nil {
		if mcp.Revision(r.Header.Get(mcp.HeaderVersion)).Modern() {
			h.drop(r.Context(), who, dropped(fe), mcp.Frame{Shape: fe.Shape, ID: fe.ID})
		}
		writeJSON(w, l, http.StatusBadRequest, fe.Answer().Bytes())
		return
	}
	version := mcp.Revision(r.Header.Get(mcp.HeaderVersion))
	switch {
	case version.Modern() || stateless(f) || f.Method == methodDiscover || f.Method == methodListen:
		h.stateless(w, r, who, f, rather)
	case f.Shape == mcp.Request && f.Method == methodInitialize:
		h.initialize(w, r, who, f)
	default:
		writeJSON(w, l, http.StatusBadRequest, mcp.Fail(idOf(f), mcp.CodeInvalidRequest, errSession.Error(), nil).Bytes())
	}
}

// one parses a frame where no session says which revision is spoken: no arrays.
func one(body []byte, l *Limits) (mcp.Frame, *mcp.FrameError) {
	fs, _, fe := parse(body, "", l.wire())
	if fe != nil {
		return mcp.Frame{}, fe
	}
	return fs[0], nil
}

// idOf is the id to answer with: that of a request.
func idOf(f mcp.Frame) mcp.ID {
	if f.Shape == mcp.Request {
		return f.ID
	}
	return ""
}

func (h *Handler) initialize(w http.ResponseWriter, r *http.Request, who gateway.Agent, f mcp.Frame) {
	s, a, status := h.begin(r.Context(), f, who)
	if s != nil {
		w.Header().Set(mcp.HeaderSession, s.id)
	}
	writeJSON(w, &h.opt.Limits, status, a.Bytes())
}

// post takes the body of a POST in a session.
func (s *httpSession) post(w http.ResponseWriter, r *http.Request, body []byte, rather bool) {
	l := &s.h.opt.Limits
	frames, batch, fe := parse(body, s.rev, l.wire())
	if fe != nil {
		s.broken(fe)
		writeJSON(w, l, http.StatusBadRequest, fe.Answer().Bytes())
		return
	}
	var asked []mcp.Frame
	var last []mcp.Frame
	for _, f := range frames {
		switch {
		case f.Shape == mcp.NoFrame:
			s.drop(dropBroken, f)
			last = append(last, mcp.Frame{Shape: mcp.Failure, ID: f.ID, Error: f.Error})
		case f.Shape != mcp.Request:
			s.other(r.Context(), f)
		case f.Method == methodInitialize:
			last = append(last, mcp.Fail(f.ID, mcp.CodeInvalidRequest, "this session is initialized already", nil))
		default:
			asked = append(asked, f)
		}
	}
	if len(asked) == 0 && len(last) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if len(asked) == 0 && !batch {
		writeJSON(w, l, http.StatusBadRequest, last[0].Bytes())
		return
	}
	s.answer(w, r, asked, last, batch, rather)
}

// answer handles the requests of one POST. Whether the agent's connection
// lasts does not matter to them: it can come back for the answers.
func (s *httpSession) answer(w http.ResponseWriter, r *http.Request, asked, last []mcp.Frame, batch, rather bool) {
	st := s.newStream()
	p := &reply{w: w, r: r, limits: &s.h.opt.Limits, st: st, asked: s.asked,
		prime: s.rev >= mcp.Rev20251125, began: func() { s.began(st) }}
	var open []opened
	for _, f := range asked {
		ctx, c, err := s.open.begin(s.h.ctx, f)
		if err != nil {
			a, reason := refusal(f.ID, err)
			s.s.Drop(reason, f)
			last = append(last, a)
			continue
		}
		defer c.end()
		open = append(open, opened{f, ctx, c})
	}
	if len(open) > 0 {
		p.start(rather)
	}
	last = append(last, s.handle(open, p)...)
	p.finish(last, batch, http.StatusOK)
	s.ended(st)
}

type opened struct {
	f   mcp.Frame
	ctx context.Context
	c   *call
}

// handle has requests answered: one here, several at once.
func (s *httpSession) handle(open []opened, p *reply) []mcp.Frame {
	answers := make([]mcp.Frame, len(open))
	one := func(i int) {
		answers[i] = s.s.Handle(open[i].ctx, open[i].f, p)
		open[i].c.answered()
	}
	if len(open) == 1 {
		one(0)
		return answers
	}
	var all sync.WaitGroup
	for i := range open {
		all.Go(func() { one(i) })
	}
	all.Wait()
	return answers
}

// other takes a frame that is no request.
func (s *httpSession) other(ctx context.Context, f mcp.Frame) {
	what, reason := sort(f)
	switch {
	case what == toCancel:
		s.open.cancel(cancelled(f)) // else it is answered already, or was never asked
	case what == toAnswer && s.asked.answer(f):
	case what == toNotice:
		ctx, cancel := context.WithTimeout(ctx, s.h.opt.Limits.Write)
		s.s.Notice(ctx, f)
		cancel()
	default:
		s.drop(reason, f)
	}
}

// broken records what is no frame, and ends the question that it would have answered.
func (s *httpSession) broken(fe *mcp.FrameError) {
	f := mcp.Frame{Shape: fe.Shape, ID: fe.ID}
	switch {
	case answers(fe):
		s.drop(dropped(fe), f)
	case fe.Shape != mcp.Notification && s.asked.answer(mcp.Fail(fe.ID, fe.Code, fe.Err.Error(), nil)):
	default:
		s.drop(dropBroken, f)
	}
}

func (s *httpSession) drop(reason string, f mcp.Frame) {
	s.h.log.Warn("serve: dropped a frame", "reason", reason, "agent", s.who.ID)
	s.s.Drop(reason, f)
}
