// Package problem is the form of every error answer over HTTP: RFC 9457
// problem details with a stable code.
//
// A server builds a Problem and calls Write; a client calls Read, which never
// fails: whatever came back, it is a Problem. Which code belongs to which
// error is not decided here but in one mapping file of the API.
package problem

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ContentType is the media type of a problem (RFC 9457 section 3).
const ContentType = "application/problem+json"

// TypeBase and a code make the type URI. It is a name; nothing fetches it.
const TypeBase = "https://pratique.dev/problems/"

// CodeUnexpected is what Read reports when the answer was no problem of ours:
// a proxy's page, an empty body, a body past the bound.
const CodeUnexpected = "unexpected_answer"

// A Problem is one error answer. Code is what programs branch on: it never
// changes its meaning. Title belongs to the code, Detail to the occurrence;
// neither holds a key, a token or tool output.
//
// The members after Code are the closed set of extensions. Each is set only
// where its code documents it.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitzero"`
	Instance string `json:"instance,omitzero"` // id of this request, also in the log
	Code     string `json:"code"`

	Field      string    `json:"field,omitzero"`      // JSON Pointer or header name of what is wrong
	Nonce      string    `json:"nonce,omitzero"`      // what the next proof has to carry (RFC 9449 section 8)
	Earliest   time.Time `json:"earliest,omitzero"`   // when the same request could be met
	RetryAfter int       `json:"retryAfter,omitzero"` // seconds; also sent as the header
	Current    string    `json:"current,omitzero"`    // the digest or generation that holds now (409, 412)
	Remedy     string    `json:"remedy,omitzero"`     // what the person can do, one sentence
}

// New is a problem of this status and code.
func New(status int, code, title string) *Problem {
	return &Problem{Type: TypeBase + code, Title: title, Status: status, Code: code}
}

// WithDetail is a copy of p that says what went wrong this time. The format
// must not name secrets.
func (p *Problem) WithDetail(format string, args ...any) *Problem {
	c := *p
	c.Detail = fmt.Sprintf(format, args...)
	return &c
}

// WithField is a copy of p that names the offending member.
func (p *Problem) WithField(field string) *Problem {
	c := *p
	c.Field = field
	return &c
}

// Error implements error. Text that came from a server is cut and has its
// control characters replaced, so that it cannot draw on a terminal.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(printable(p.Title))
	if p.Detail != "" {
		b.WriteString(": ")
		b.WriteString(printable(p.Detail))
	}
	fmt.Fprintf(&b, " (%d %s)", p.Status, printable(p.Code))
	return b.String()
}

// Is makes errors.Is(err, &Problem{Code: c}) true for every problem of code c.
func (p *Problem) Is(target error) bool {
	t, ok := target.(*Problem)
	return ok && t.Code == p.Code
}

// Write sends p as the whole answer. It is never cached, and it carries its
// nonce and its waiting time in the headers that OAuth clients read.
func (p *Problem) Write(w http.ResponseWriter) {
	c := *p
	if c.Status < 400 || c.Status > 599 {
		c.Status = http.StatusInternalServerError
	}
	if c.Type == "" {
		c.Type = "about:blank"
	}
	h := w.Header()
	h.Del("Content-Length") // of the answer this one replaces
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if c.Nonce != "" {
		h.Set("DPoP-Nonce", c.Nonce)
	}
	if c.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(c.RetryAfter))
	}
	body, err := json.Marshal(c)
	if err != nil { // Earliest beyond year 9999; the rest always marshals
		c.Earliest = time.Time{}
		body, _ = json.Marshal(c)
	}
	w.WriteHeader(c.Status)
	_, _ = w.Write(append(body, '\n')) // a client that went away gets nothing
}

// maxText is how much of a foreign string an error message repeats, in bytes.
const maxText = 500

func printable(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "..."
	}
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}
