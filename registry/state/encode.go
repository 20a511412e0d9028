package state

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

const (
	flagWithheld = 1 << iota
	flagLive
	flagNamed
	flagCondemned
	flagSelf // the publisher is the owner
)

// toolFixed is the length of a tool's fixed part: id, owner, digest, standing,
// content, level, flags.
const toolFixed = 16 + 32 + 32 + 4

func appendTool(b []byte, t *registry.Tool, origin uint64) []byte {
	b = append(b, toolKey(t.Row.Tool)...)
	b = append(b, rawKey(t.Owner)...)
	b = append(b, t.Digest[:]...)
	var flags byte
	for _, f := range []struct {
		on  bool
		bit byte
	}{{t.Withheld, flagWithheld}, {t.Live, flagLive}, {t.Named, flagNamed}, {t.Condemned, flagCondemned}, {t.Publisher == t.Owner, flagSelf}} {
		if f.on {
			flags |= f.bit
		}
	}
	b = append(b, byte(t.Standing), byte(t.Content), byte(t.Level), flags)
	if flags&flagSelf == 0 {
		b = append(b, rawKey(t.Publisher)...)
	}
	for _, n := range []uint64{t.Gen, t.Ver, t.Seq, uint64(t.Attested), t.Events, t.Index, uint64(t.Changed), uint64(t.Kept), t.Reset, uint64(t.Until), t.Used, origin} {
		b = binary.AppendUvarint(b, n)
	}
	return append(b, t.Name...)
}

// toolDecoder shares the texts that many tools have in common.
type toolDecoder struct {
	origins []string
	keys    map[[32]byte]credentials.KeyID
}

func (d *toolDecoder) key(b []byte) credentials.KeyID {
	raw := [32]byte(b)
	k, ok := d.keys[raw]
	if !ok {
		k = credentials.KeyID(base64.RawURLEncoding.EncodeToString(b))
		d.keys[raw] = k
	}
	return k
}

func (d *toolDecoder) decode(b []byte) (*registry.Tool, error) {
	if len(b) < toolFixed {
		return nil, fmt.Errorf("%w: tool of %d bytes", ErrSnapshot, len(b))
	}
	t := &registry.Tool{}
	t.Row.Tool = toolID([16]byte(b))
	t.Owner = d.key(b[16:48])
	copy(t.Digest[:], b[48:80])
	t.Standing, t.Content, t.Level = labels.Standing(b[80]), labels.Content(b[81]), credentials.Level(b[82])
	flags := b[83]
	t.Withheld, t.Live = flags&flagWithheld != 0, flags&flagLive != 0
	t.Named, t.Condemned = flags&flagNamed != 0, flags&flagCondemned != 0
	b = b[toolFixed:]
	t.Publisher = t.Owner
	if flags&flagSelf == 0 {
		if len(b) < 32 {
			return nil, ErrSnapshot
		}
		t.Publisher, b = d.key(b[:32]), b[32:]
	}
	var n [12]uint64
	for i := range n {
		v, w := binary.Uvarint(b)
		if w <= 0 {
			return nil, fmt.Errorf("%w: tool number %d", ErrSnapshot, i)
		}
		n[i], b = v, b[w:]
	}
	t.Gen, t.Ver, t.Seq, t.Attested, t.Events = n[0], n[1], n[2], int64(n[3]), n[4]
	t.Index, t.Changed, t.Kept, t.Reset, t.Until = n[5], int64(n[6]), int64(n[7]), n[8], int64(n[9])
	t.Used = n[10]
	if n[11] >= uint64(len(d.origins)) {
		return nil, fmt.Errorf("%w: tool's origin", ErrSnapshot)
	}
	t.Origin, t.Name = d.origins[n[11]], string(b)
	return t, nil
}

const crockfordText = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// toolID is the id whose ULID has these bytes; the inverse of toolKey.
func toolID(k [16]byte) credentials.ToolID {
	hi, lo := binary.BigEndian.Uint64(k[:8]), binary.BigEndian.Uint64(k[8:])
	var text [26]byte
	for i := 25; i >= 0; i-- {
		text[i] = crockfordText[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return credentials.ToolID("tool_" + string(text[:]))
}
