package policy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// A Source is a rule file that can be read again while calls are decided. It
// keeps the last good rules: a reload that fails changes nothing. Safe for
// concurrent use.
type Source struct {
	path string
	mu   sync.Mutex // one reload at a time
	raw  [sha256.Size]byte
	next [sha256.Size]byte // of what was found last and is not taken over
	now  atomic.Pointer[loaded]
}

type loaded struct {
	rules  *Rules
	policy Policy
}

// OpenSource reads a rule file for the first time: what is not there, not
// readable or not valid fails, so that no start goes on without the rules that
// were meant.
func OpenSource(path string) (*Source, error) {
	s := &Source{path: path}
	if _, err := s.Reload(); err != nil {
		return nil, err
	}
	return s, nil
}

// Rules are the last good rules.
func (s *Source) Rules() *Rules { return s.now.Load().rules }

// Policy is the policy of the last good rules. One decision uses one value of
// it.
func (s *Source) Policy() Policy { return s.now.Load().policy }

// Reload reads the file again. On an error the last good rules stay, and the
// error says why. changed tells whether other rules hold than before.
func (s *Source) Reload() (changed bool, err error) { return s.reload(false) }

// Renew is Reload for whoever looks again and again: what has changed is taken over
// once it was found alike two times, since somebody may still be writing it, and the
// first half of a file can permit what its second half forbids.
func (s *Source) Renew() (changed bool, err error) { return s.reload(true) }

func (s *Source) reload(settled bool) (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := readBounded(s.path)
	if err != nil {
		return false, err
	}
	was, sum := s.now.Load(), sha256.Sum256(text)
	if was != nil && sum == s.raw {
		return false, nil
	}
	if settled && sum != s.next {
		s.next = sum
		return false, nil
	}
	rules, err := Load(text) // the bytes that were read, never the file again
	if err != nil {
		return false, err
	}
	s.raw = sum
	if was != nil && was.rules.Digest() == rules.Digest() {
		return false, nil
	}
	s.now.Store(&loaded{rules, Of(rules)})
	return true, nil
}

// readBounded reads a regular file of bounded size; a pipe or device that is
// given for one is refused before it is opened, since that may block.
func readBounded(path string) ([]byte, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a regular file", ErrRules)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRules, cause(err))
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRules, cause(err))
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a regular file", ErrRules)
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxRulesBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRules, cause(err))
	}
	return b, nil
}

// cause drops the operation from a path error and keeps what went wrong.
func cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}
