// Package canon gives every JSON text one spelling, so that two texts have the
// same digest exactly when they mean the same, and decodes JSON strictly.
//
// The spelling is RFC 8785 (JCS) with one rule of our own, about numbers. JCS
// reads every number as a float64, so that 9007199254740992 and
// 9007199254740993 would get one digest although they differ, and a registrant
// could have a limit reviewed and serve another. Here the decimal value decides:
//
//   - a number that survives the way through a float64 (the shortest text that
//     ES6 prints for it has the same decimal value) is spelled as ES6 does, so
//     1, 1.0 and 1e0 are one, and so are 0 and -0;
//   - an integer that does not survive keeps its digits, without exponent, up to
//     MaxIntegerDigits of them: 9007199254740993 stays;
//   - anything else is ErrNumber: 0.10000000000000000001, 1e-400, 1e400.
//
// The spelling is therefore injective on decimal values, and idempotent. Texts
// that readers in the field disagree about have no spelling at all: duplicate
// members (compared after unescaping), invalid UTF-8, lone surrogates, U+0000, a
// byte order mark, trailing data.
package canon

import (
	"crypto/sha256"
	"errors"
)

// Defaults of Limits.
const (
	DefaultBytes = 1 << 20
	DefaultDepth = 64
)

// MaxIntegerDigits is the most digits an integer beyond float64's reach may
// have: enough for any 256-bit integer, small enough that "1e999999999" cannot
// make a long text out of a short one.
const MaxIntegerDigits = 128

// MetadataContext is the digest context of a tool's metadata.
const MetadataContext = "pratique/metadata/v1"

// Errors of JSON that has no canonical form or does not fit its type. All mean
// that nothing was decoded; none repeats any of the text.
var (
	ErrSyntax    = errors.New("not JSON as RFC 8259 defines it")
	ErrEmpty     = errors.New("no JSON value: the text is empty")
	ErrBOM       = errors.New("a byte order mark stands before the JSON text")
	ErrTrailing  = errors.New("data follows the JSON value")
	ErrUTF8      = errors.New("text is not valid UTF-8")
	ErrSurrogate = errors.New(`a \u escape names half of a surrogate pair`)
	ErrNUL       = errors.New("text contains U+0000")
	ErrControl   = errors.New("a control character stands unescaped in a string")
	ErrDuplicate = errors.New("an object has two members of one name")
	ErrDepth     = errors.New("arrays and objects are nested too deep")
	ErrSize      = errors.New("text is too long")
	ErrNumber    = errors.New("a number would change on its way through a 64-bit float and is no integer of up to 128 digits")
	ErrNotObject = errors.New("not a JSON object")
	ErrMember    = errors.New("an object has a member that its type does not know")
	ErrNull      = errors.New("a member is null where it must have a value or be absent")
	ErrShape     = errors.New("a value has another type than its member wants")
)

// Limits bound one text. The zero value is the strict default.
type Limits struct {
	Bytes int // longest text, in bytes; 0 means DefaultBytes
	Depth int // deepest nesting; 0 means DefaultDepth, a scalar has depth 0
	// AllowNUL admits the escape of U+0000 in strings. It is for content that we
	// only pass on; in names and descriptions it serves to truncate what a
	// person sees.
	AllowNUL bool
	// NoNull refuses null everywhere: readers disagree on whether a member that
	// is null is there. For closed sets, where members are there or absent.
	NoNull bool
}

func (l Limits) orDefault() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	l.Bytes = min(l.Bytes, 1<<27) // offsets are 32 bits wide, and 1e127 grows 26 times
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	return l
}

// JSON returns the canonical form of one JSON text. The result is new memory;
// raw is not changed. It is JSON again and its own canonical form.
func JSON(raw []byte, lim Limits) ([]byte, error) {
	lim = lim.orDefault()
	if len(raw) > lim.Bytes {
		return nil, ErrSize
	}
	w := writer{in: raw, lim: lim, out: make([]byte, 0, len(raw)+16)}
	if err := w.document(); err != nil {
		return nil, err
	}
	return w.out, nil
}

// Digest is SHA-256(context || 0x00 || canonical). The context says what kind of
// thing is digested, so that a digest made for one kind is never one of another.
func Digest(context string, canonical []byte) [32]byte {
	buf := make([]byte, 0, 64)
	buf = append(buf, context...)
	buf = append(buf, 0)
	h := sha256.New()
	h.Write(buf)
	h.Write(canonical)
	var d [32]byte
	h.Sum(d[:0])
	return d
}

// Metadata canonicalises a whole tool object, all its members, known or not,
// and digests it under MetadataContext.
func Metadata(raw []byte) (canonical []byte, digest [32]byte, err error) {
	canonical, err = JSON(raw, Limits{})
	if err != nil {
		return nil, digest, err
	}
	if canonical[0] != '{' {
		return nil, digest, ErrNotObject
	}
	return canonical, Digest(MetadataContext, canonical), nil
}
