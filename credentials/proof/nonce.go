package proof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// NonceOptions change how nonces are made; nil and zero fields mean the
// defaults.
type NonceOptions struct {
	Life   time.Duration // how long a nonce is accepted (2 min)
	Rotate time.Duration // how often the secret is renewed (1 h); at least Life
	Rand   io.Reader
}

// Nonces makes and checks the server's nonces. Nothing is stored per nonce: it
// is a time and a MAC over it, the key it was made for and this replica, under
// a secret that is made at each start and renewed by the hour, with the previous
// one still accepted. So a proof made for one replica, or before a restart,
// is none for another: each replica's own replay set is enough.
type Nonces struct {
	replica string
	o       NonceOptions

	mu        sync.Mutex
	cur, prev []byte // secrets; prev is nil at first
	made      time.Time
	latest    time.Time // latest time seen
}

const (
	nonceTime = 8
	nonceMAC  = 16
)

// NewNonces makes nonces for one replica.
func NewNonces(replica string, o *NonceOptions) (*Nonces, error) {
	n := &Nonces{replica: replica}
	if o != nil {
		n.o = *o
	}
	if n.o.Life == 0 {
		n.o.Life = 2 * time.Minute
	}
	if n.o.Rotate == 0 {
		n.o.Rotate = time.Hour
	}
	if n.o.Rand == nil {
		n.o.Rand = rand.Reader
	}
	if n.o.Life < time.Second || n.o.Rotate < n.o.Life {
		return nil, errors.New("nonces: life is at least 1 s and the secret lives at least as long")
	}
	return n, nil
}

// Life is how long a nonce is accepted.
func (n *Nonces) Life() time.Duration { return n.o.Life }

// New makes a nonce for the holder of a key. It is no secret.
func (n *Nonces) New(jkt credentials.KeyID, now time.Time) (string, error) {
	cur, _, err := n.secrets(now)
	if err != nil {
		return "", err
	}
	var b [nonceTime + nonceMAC]byte
	binary.BigEndian.PutUint64(b[:], uint64(now.UnixMilli()))
	mac := n.mac(cur, b[:nonceTime], jkt)
	copy(b[nonceTime:], mac[:nonceMAC])
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// Check reports whether a nonce was made here for this key within its life.
func (n *Nonces) Check(jkt credentials.KeyID, nonce string, now time.Time) bool {
	cur, prev, err := n.secrets(now)
	if err != nil || len(nonce) != base64.RawURLEncoding.EncodedLen(nonceTime+nonceMAC) {
		return false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(nonce)
	if err != nil || len(b) != nonceTime+nonceMAC {
		return false
	}
	age := now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(b))))
	if age < -credentials.Leeway || age > n.o.Life {
		return false
	}
	for _, k := range [][]byte{cur, prev} {
		if k == nil {
			continue
		}
		mac := n.mac(k, b[:nonceTime], jkt)
		if hmac.Equal(mac[:nonceMAC], b[nonceTime:]) {
			return true
		}
	}
	return false
}

func (n *Nonces) mac(key, ts []byte, jkt credentials.KeyID) (out [sha256.Size]byte) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("pratique/nonce/v1\x00"))
	h.Write(ts)
	h.Write([]byte(jkt)) // 43 bytes, so nothing can move between it and replica
	h.Write([]byte(n.replica))
	h.Sum(out[:0])
	return out
}

// secrets gives the current and the previous secret at now, renewing them when
// due. A clock that was set back ends both: the replay set has forgotten what
// it dropped at the later time, and those proofs must not become good again.
func (n *Nonces) secrets(now time.Time) (cur, prev []byte, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	back := now.Before(n.latest.Add(-credentials.Leeway))
	if n.cur == nil || back || now.Sub(n.made) >= n.o.Rotate {
		fresh := make([]byte, 32)
		if _, err := io.ReadFull(n.o.Rand, fresh); err != nil {
			return nil, nil, fmt.Errorf("nonces: %w", err)
		}
		if n.prev = n.cur; back || now.Sub(n.made) >= 2*n.o.Rotate {
			n.prev = nil
		}
		n.cur, n.made = fresh, now
		if back {
			n.latest = now
		}
	}
	if now.After(n.latest) {
		n.latest = now
	}
	return n.cur, n.prev, nil
}

// Format implements fmt.Formatter, so that no verb shows the secrets.
func (n *Nonces) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "nonces(%s)", n.replica) }
