package problem

import (
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"
)

// maxBody bounds what Read takes from a server, in bytes.
const maxBody = 64 << 10

// Read turns an answer that is not the expected one into a Problem. It reads
// at most 64 KiB of the body and does not close it. The status is that of the
// HTTP answer, whatever the body claims. Unknown members are ignored, as RFC
// 9457 section 3.2 demands of clients; a body that is not a problem gives
// CodeUnexpected and none of its text.
func Read(resp *http.Response) *Problem {
	unexpected := &Problem{
		Type:   TypeBase + CodeUnexpected,
		Title:  "the server answered in an unexpected form",
		Status: resp.StatusCode,
		Code:   CodeUnexpected,
	}
	mt, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || mt != ContentType || resp.Body == nil {
		return unexpected
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return unexpected
	}
	var p Problem
	if json.Unmarshal(body, &p) != nil || p.Code == "" {
		return unexpected
	}
	p.Status = resp.StatusCode
	if n := resp.Header.Get("DPoP-Nonce"); n != "" {
		p.Nonce = n
	}
	return &p
}
