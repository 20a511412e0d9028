package holds

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/internal/durable"
)

// A file of a hold is its format, the length of the sealed hold, the sealed hold,
// and the sealed content where that is kept. Each is sealed under the hold's id,
// so that none stands in for another.
const (
	fileFormat = "pratique-hold/1\n"
	fileSuffix = ".hold"
	maxMeta    = 1 << 20 // bytes of a hold without its content
	maxFile    = int64(len(fileFormat)) + 4 + maxMeta + MaxContent + 2*boxOverhead
)

func metaLabel(id string) string    { return "pratique/hold-meta/v1\x00" + id }
func contentLabel(id string) string { return "pratique/hold-content/v1\x00" + id }

func (s *Store) encode(h *Hold, content []byte) ([]byte, error) {
	meta, err := json.Marshal(h, json.Deterministic(true))
	for err == nil && len(meta) > maxMeta { // paths are the upstream's to lengthen: the first findings tell enough
		h.Findings = h.Findings[:len(h.Findings)/2]
		meta, err = json.Marshal(h, json.Deterministic(true))
	}
	if err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	b := binary.BigEndian.AppendUint32([]byte(fileFormat), uint32(len(meta)+boxOverhead))
	if b, err = sealed(b, s.box, s.opt.Random, metaLabel(h.ID), meta); err != nil || !h.Kept {
		return b, err
	}
	return sealed(b, s.box, s.opt.Random, contentLabel(h.ID), content)
}

// decode reads a file; the content is a copy where it is wanted, else nil.
func (s *Store) decode(id string, data []byte, whole bool) (h Hold, content []byte, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(fileFormat))
	if !ok || len(rest) < 4 {
		return h, nil, ErrDamaged
	}
	n := binary.BigEndian.Uint32(rest)
	if rest = rest[4:]; n > maxMeta+boxOverhead || int(n) > len(rest) {
		return h, nil, ErrDamaged
	}
	meta, err := opened(s.box, metaLabel(id), rest[:n])
	if err != nil {
		return h, nil, err
	}
	if json.Unmarshal(meta, &h, json.RejectUnknownMembers(true)) != nil || h.ID != id {
		return Hold{}, nil, ErrDamaged
	}
	if !whole || !h.Kept {
		return h, nil, nil
	}
	if content, err = opened(s.box, contentLabel(id), rest[n:]); err != nil {
		return Hold{}, nil, err
	}
	if Digest(content) != h.Digest {
		return Hold{}, nil, ErrDamaged
	}
	return h, content, nil
}

// load reads the file of an entry: all of it, or what stands before the content.
func (s *Store) load(e entry, whole bool) (Hold, []byte, error) {
	data, err := readFile(s.path(e), whole)
	if errors.Is(err, os.ErrNotExist) {
		return Hold{}, nil, ErrMissing
	}
	if err != nil {
		return Hold{}, nil, fmt.Errorf("%w: %s: %w", ErrDamaged, e.id, err)
	}
	h, content, err := s.decode(e.id, data, whole)
	if err != nil {
		return Hold{}, nil, fmt.Errorf("%w: %s", err, e.id)
	}
	if h.Size != e.size || h.Kept != e.kept || s.cellOf(h.Agent, h.Origin) != e.cell || s.markOf(h.Subject) != e.mark {
		return Hold{}, nil, fmt.Errorf("%w: %s: its file was renamed", ErrDamaged, e.id)
	}
	return h, content, nil
}

func readFile(path string, whole bool) ([]byte, error) {
	if whole {
		return durable.ReadPrivate(path, maxFile)
	}
	f, err := durable.OpenPrivate(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, len(fileFormat)+4)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	n := min(binary.BigEndian.Uint32(b[len(fileFormat):]), maxMeta+boxOverhead)
	return io.ReadAll(io.MultiReader(bytes.NewReader(b), io.LimitReader(f, int64(n))))
}

func (s *Store) path(e entry) string { return filepath.Join(s.dir, itemsFolder, e.cell, e.name()) }
