package node

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// listLife is how long a list of lowered labels can be asked for after a
// statement of freshness named it last: longer than caches keep the key set (6
// minutes) and clients believe its statement (15 minutes by default) together.
const listLife = 30 * time.Minute

// listBytes bounds the files of all lists; the oldest go first.
const listBytes = 1 << 30

// lists keeps lists of lowered labels as files named by their digest: every
// process on the folder serves what any of them has named, and a restart forgets
// none. A list is public, and its name is its check.
type lists struct {
	dir   string
	bytes int64 // 0: listBytes

	mu    sync.Mutex
	last  labels.Lowered
	swept time.Time
}

func (l *lists) path(d credentials.Digest) string {
	return filepath.Join(l.dir, strings.TrimPrefix(d.String(), "sha-256:"))
}

// keep stores a list that is about to be named, or marks it as named again.
func (l *lists) keep(list labels.Lowered, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if list.Len() == 0 {
		return nil
	}
	path := l.path(list.Digest())
	err := os.Chtimes(path, now, now)
	if errors.Is(err, fs.ErrNotExist) {
		if err = durable.MkdirPrivate(l.dir); err == nil {
			err = durable.WriteFile(path, list.JSON(), 0o600)
		}
		if err == nil {
			err = os.Chtimes(path, now, now)
		}
	}
	if err != nil {
		return fmt.Errorf("list of lowered labels: %w", err)
	}
	l.last = list
	l.sweep(now)
	return nil
}

// sweep removes, once a minute, lists that no statement names any more, and the
// oldest where all together take too much room.
func (l *lists) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return // tried again in a minute
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if st, err := e.Info(); err == nil {
			files = append(files, st)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for i, f := range files { // newest first; the one just named stays
		total += f.Size()
		if i > 0 && (now.Sub(f.ModTime()) > listLife || total > l.most()) {
			os.Remove(filepath.Join(l.dir, f.Name()))
		}
	}
}

func (l *lists) most() int64 { return cmp.Or(l.bytes, listBytes) }

// get is the list with this digest.
func (l *lists) get(d credentials.Digest) (labels.Lowered, error) {
	if d == (labels.Lowered{}).Digest() {
		return labels.Lowered{}, nil
	}
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if last.Len() > 0 && last.Digest() == d {
		return last, nil
	}
	raw, err := durable.ReadPrivate(l.path(d), labels.MaxLowered)
	if errors.Is(err, fs.ErrNotExist) {
		return labels.Lowered{}, registry.ErrNotFound
	}
	if err != nil {
		return labels.Lowered{}, err
	}
	list, err := labels.ParseLowered(raw)
	if err != nil || list.Digest() != d {
		return labels.Lowered{}, registry.ErrNotFound // damaged: whoever asked refuses it anyway
	}
	return list, nil
}
