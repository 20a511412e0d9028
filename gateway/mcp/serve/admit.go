package serve

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Why a request is refused before it is read. The texts are the answers.
var (
	errHost    = errors.New("the Host header names none of this gateway's hosts")
	errOrigin  = errors.New("requests of this origin are not answered")
	errNobody  = errors.New("an agent's credential is needed, as a bearer token or as the last element of the URL")
	errNotNow  = errors.New("the record of agents cannot be read now")
	errType    = errors.New("the Content-Type must be application/json")
	errCoding  = errors.New("a Content-Encoding is not spoken")
	errAccept  = errors.New("the Accept header must have application/json and text/event-stream")
	errStream  = errors.New("the Accept header must have text/event-stream")
	errLength  = errors.New("the body is too long")
	errBody    = errors.New("the body could not be read")
	errSession = errors.New("a session is needed: initialize gives one in " + mcp.HeaderSession)
	errUnknown = errors.New("there is no such session: initialize again")
	errMethod  = errors.New("the method is not spoken here")
	errResume  = errors.New("what would have to be sent again is not kept")
	errTaken   = errors.New("this session's stream is open already")
)

func itoa(n int) string { return strconv.Itoa(n) }

// fail answers with a JSON-RPC error without an id, as the transport allows, so
// that clients which read bodies can show the reason.
func fail(w http.ResponseWriter, l *Limits, status int, reason error) {
	code := mcp.CodeInvalidRequest
	if status >= 500 || status == http.StatusTooManyRequests {
		code = mcp.CodeRetry
	}
	writeJSON(w, l, status, mcp.Fail("", code, reason.Error(), nil).Bytes())
}

func notAllowed(w http.ResponseWriter, l *Limits, allow string) {
	w.Header().Set("Allow", allow)
	fail(w, l, http.StatusMethodNotAllowed, errMethod)
}

// place holds Host and Origin against the lists (RULES.md 14): a page of another
// origin has a browser on this machine, and so a way to loopback.
func (h *Handler) place(r *http.Request) error {
	host := strings.ToLower(r.Host)
	if !h.hosted(host) {
		return errHost
	}
	if len(r.Header["Origin"]) == 0 {
		return nil
	}
	origin := r.Header.Get("Origin")
	if len(r.Header["Origin"]) > 1 {
		return errOrigin
	}
	if slices.Contains(h.opt.Origins, origin) {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || strings.ToLower(u.Host) != host || origin != u.Scheme+"://"+u.Host {
		return errOrigin
	}
	return nil
}

func (h *Handler) hosted(host string) bool {
	if slices.Contains(h.opt.Hosts, host) {
		return true
	}
	i := strings.LastIndexByte(host, ':')
	if i <= 0 || strings.HasSuffix(host, "]") || i == len(host)-1 {
		return false
	}
	for _, d := range host[i+1:] {
		if d < '0' || d > '9' {
			return false
		}
	}
	return slices.Contains(h.opt.Hosts, host[:i])
}

// admit is the agent whose credential the request presents. Two that differ are
// none: which of them counts must not be a question.
func (h *Handler) admit(r *http.Request) (gateway.Agent, error) {
	path, ok := strings.CutPrefix(r.URL.Path, h.opt.Path)
	if !ok || (path != "" && path[0] != '/') {
		return gateway.Agent{}, gateway.ErrCredential
	}
	credential := strings.TrimPrefix(path, "/")
	if auth := r.Header["Authorization"]; len(auth) > 0 {
		scheme, token, ok := strings.Cut(auth[0], " ")
		token = strings.TrimSpace(token)
		if !ok || len(auth) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" || (credential != "" && credential != token) {
			return gateway.Agent{}, gateway.ErrCredential
		}
		credential = token
	}
	if credential == "" {
		if h.opt.Anonymous == nil {
			return gateway.Agent{}, gateway.ErrCredential
		}
		return *h.opt.Anonymous, nil
	}
	return h.gw.Admit(credential)
}

// written tells whether the body is what a POST must be.
func written(r *http.Request) (int, error) {
	if len(r.Header["Content-Encoding"]) > 0 {
		return http.StatusUnsupportedMediaType, errCoding
	}
	media, params, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") || len(r.Header["Content-Type"]) > 1 {
		return http.StatusUnsupportedMediaType, errType
	}
	if p := strings.ToLower(strings.ReplaceAll(params, " ", "")); p != "" && p != "charset=utf-8" && p != `charset="utf-8"` {
		return http.StatusUnsupportedMediaType, errType
	}
	return 0, nil
}

// accepts reads the Accept headers: whether JSON and event streams are taken, and
// whether the agent would rather have a stream: by quality, or if equal by order.
func accepts(values []string) (asJSON, asStream, rather bool) {
	var qJSON, qStream float64
	streamFirst := false
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			media, params, _ := strings.Cut(part, ";")
			q := quality(params)
			switch strings.ToLower(strings.TrimSpace(media)) {
			case "application/json", "application/*":
				qJSON = max(qJSON, q)
			case "text/event-stream":
				streamFirst = streamFirst || qJSON == 0
				qStream = max(qStream, q)
			case "text/*":
				qStream = max(qStream, q)
			case "*/*":
				qJSON, qStream = max(qJSON, q), max(qStream, q)
			}
		}
	}
	rather = qStream > qJSON || (qStream == qJSON && streamFirst)
	return qJSON > 0, qStream > 0, qStream > 0 && rather
}

func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(p), "=")
		if !ok || !strings.EqualFold(name, "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 && q <= 1 {
			return q
		}
		return 0
	}
	return 1
}
