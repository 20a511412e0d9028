package decisions

import (
	"github.com/pratique-dev/pratique/credentials"
)

const secondsOfDay = 24 * 60 * 60

// shareOf is the part of what is left that one agent may fill on one day.
const shareOf = 4

// Spent is how many bytes of entries this process has written for an agent on
// this day, in UTC, and its share: a quarter of what the folder had left when
// the day, or the process, began. So no agent alone ever takes the rest from the
// others. The log refuses nobody: whoever lets calls in asks.
func (l *Log) Spent(agent credentials.AgentID) (bytes, share int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.today()
	return l.spent[agent], l.share
}

// today begins to count anew where a day has ended. mu is held.
func (l *Log) today() {
	day := l.o.Now().Unix() / secondsOfDay
	if l.spent != nil && day <= l.day {
		return
	}
	l.day, l.spent = day, map[credentials.AgentID]int64{}
	if used, err := used(l.data); err == nil { // else the share stays as it was
		l.share = max(0, l.o.Total-used) / shareOf
	}
}
