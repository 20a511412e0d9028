package baseline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/pratique-dev/pratique/credentials"
)

// maxCode bounds an executable that is hashed, in bytes.
const maxCode = 4 << 30

// codeSums remembers what this process hashed, since an executable is hashed at
// the start and before each process and may be large. A file counts as the one that
// was hashed while it is the same inode with the same size and the same times, of
// its content and, where there is one, of its last change of any kind, which nobody
// but the kernel sets.
type codeSums struct {
	mu   sync.Mutex
	seen map[string]codeSum
}

type codeSum struct {
	info fs.FileInfo
	sum  credentials.Digest
}

func (c *codeSums) sum(ctx context.Context, name string) (credentials.Digest, error) {
	f, err := os.Open(name)
	if err != nil {
		return credentials.Digest{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return credentials.Digest{}, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxCode {
		return credentials.Digest{}, fmt.Errorf("%s is no regular file of at most %d bytes", Visible(name), int64(maxCode))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.seen[name]; ok && sameCode(old.info, st) {
		return old.sum, nil
	}
	d, err := hashAll(ctx, f)
	if err != nil {
		return d, err
	}
	if after, err := f.Stat(); err == nil && sameCode(st, after) {
		if c.seen == nil {
			c.seen = map[string]codeSum{}
		}
		c.seen[name] = codeSum{st, d}
	}
	return d, nil
}

func sameCode(a, b fs.FileInfo) bool {
	return changeTime(a) != 0 && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changeTime(a) == changeTime(b)
}

func hashAll(ctx context.Context, r io.Reader) (d credentials.Digest, err error) {
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		n, err := r.Read(buf)
		h.Write(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			h.Sum(d[:0])
			return d, nil
		case err != nil:
			return d, err
		case ctx.Err() != nil:
			return d, ctx.Err()
		}
	}
}
