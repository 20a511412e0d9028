// Package wire is what warden and children say to each other over two pipes: frames
// of a kind, a length and a body. Both sides read as if the other one lied: lengths
// are bounded before anything is made room for, counts are held against the bytes
// that are there, and a body has no byte too many.
package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
)

// ErrFrame says that bytes are no frame of this protocol, or one that is too large.
var ErrFrame = errors.New("wire: not a frame of this protocol")

// A Kind says what a frame holds.
type Kind byte

// The kinds of frames.
const (
	KindHello    Kind = 'h' // child: I am locked up, this far
	KindBatch    Kind = 'b' // parent: judge this
	KindQuestion Kind = 'q' // child: ask the language model
	KindReply    Kind = 'a' // parent: what it said
	KindReport   Kind = 'r' // child: the verdict
)

// header is a kind and four bytes of length.
const header = 5

// Bounds of bodies in bytes.
const (
	MaxBatch    = 64 << 20
	MaxHello    = 4 << 10
	MaxReport   = 64 << 10
	MaxQuestion = 64 << 10
	MaxReply    = 1 << 20
)

func (k Kind) most() int {
	switch k {
	case KindHello:
		return MaxHello
	case KindBatch:
		return MaxBatch
	case KindQuestion:
		return MaxQuestion
	case KindReply:
		return MaxReply
	case KindReport:
		return MaxReport
	}
	return -1
}

// Read reads one frame, of a kind that allowed names. An end before the first byte
// is io.EOF; any other fault is ErrFrame or the reader's.
func Read(r io.Reader, allowed ...Kind) (Kind, string, error) {
	var head [header]byte
	if _, err := io.ReadFull(r, head[:1]); err != nil {
		return 0, "", err
	}
	if _, err := io.ReadFull(r, head[1:]); err != nil {
		return 0, "", noEnd(err)
	}
	k, n := Kind(head[0]), int64(binary.LittleEndian.Uint32(head[1:]))
	ok := false
	for _, a := range allowed {
		ok = ok || a == k
	}
	if !ok || n > int64(k.most()) {
		return 0, "", ErrFrame
	}
	var body strings.Builder // grows with what comes, not with what is promised
	if n <= 64<<10 {
		body.Grow(int(n))
	}
	if _, err := io.CopyN(&body, r, n); err != nil {
		return 0, "", noEnd(err)
	}
	return k, body.String(), nil
}

func noEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Bytes is a frame with a body as it is.
func Bytes(dst []byte, k Kind, body []byte) ([]byte, error) {
	dst = begin(dst, k)
	return end(append(dst, body...), k)
}

// begin makes a frame whose body is appended; end puts its length in.
func begin(dst []byte, k Kind) []byte { return append(dst[:0], byte(k), 0, 0, 0, 0) }

func end(f []byte, k Kind) ([]byte, error) {
	n := len(f) - header
	if n > k.most() {
		return nil, ErrFrame
	}
	binary.LittleEndian.PutUint32(f[1:header], uint32(n))
	return f, nil
}

// A reader takes a body apart; its first fault sticks.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) number() uint64 {
	var v uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		b := r.rest[i]
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 && i > 0 {
				break // one number has one form
			}
			r.rest = r.rest[i+1:]
			return v
		}
	}
	r.fail()
	return 0
}

func (r *reader) fail() { r.bad, r.rest = true, "" }

// size is a number of at most most.
func (r *reader) size(most int) int {
	v := r.number()
	if v > uint64(most) {
		r.fail()
		return 0
	}
	return int(v)
}

func (r *reader) text() string {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) span() quarantine.Span {
	const far = 1 << 40 // a place in bytes
	from := r.size(far)
	return quarantine.Span{From: from, To: from + r.size(far)}
}

func (r *reader) done() error {
	if r.bad || r.rest != "" {
		return ErrFrame
	}
	return nil
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
