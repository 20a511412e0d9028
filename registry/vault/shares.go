package vault

import "sync"

// Shares count what is kept on one day, so that no agent's values take the
// place of all others' (RULES.md 40). The vaults of one process share one.
type Shares struct {
	Quota int64 // bytes of all on one day; 0: DefaultQuota
	Share int64 // of one agent; 0: a quarter of Quota

	mu  sync.Mutex
	day string
	all int64
	of  map[string]int64
}

// takes tells whether n bytes of an agent's value are kept on a day, and counts
// them then. An empty agent has no share but the whole.
func (s *Shares) takes(day, agent string, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if day > s.day {
		s.day, s.all, s.of = day, 0, map[string]int64{}
	}
	quota, share := s.Quota, s.Share
	if quota == 0 {
		quota = DefaultQuota
	}
	if share == 0 {
		share = quota / 4
	}
	if s.all+n > quota || agent != "" && s.of[agent]+n > share {
		return false
	}
	s.all += n
	if agent != "" {
		s.of[agent] += n
	}
	return true
}
