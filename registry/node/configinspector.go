package node

import (
	"errors"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/quarantine/warden"
	"github.com/pratique-dev/pratique/quarantine/warden/broker"
)

// InspectorConf says how what upstreams show and return is inspected.
type InspectorConf struct {
	// Sandbox is what becomes of a machine that cannot confine the processes that
	// read hostile text: required (nothing starts), best-effort (they run with what
	// confinement there is, which /readyz?verbose, doctor and the log name) or off
	// (the inspector runs inside of this process). Default: required on Linux, where
	// Landlock and seccomp are wanted; best-effort elsewhere, which has none.
	Sandbox string `yaml:"sandbox"`
	// Workers is how many such processes run at most; more than one only while that
	// many inspections are under way. Default: one for each processor, 2 to 8; 8 with a
	// model.
	Workers int `yaml:"workers"`
	// Deadline is how long one inspection may take, and a second more for each MiB;
	// as long again it may wait for its turn. What takes longer is suspect. Default
	// 5s.
	Deadline time.Duration `yaml:"deadline"`
	// MemoryMiB is how many MiB of memory one process may take. What needs more is
	// suspect. Default 512, at least 256.
	MemoryMiB int `yaml:"memory_mib"`
	// Cache is how many verdicts are kept in memory. Default 4096; -1 keeps none.
	Cache int `yaml:"cache"`
	// Model is a language model that is asked too.
	Model broker.Config `yaml:"model"`
}

// Bounds of what can be set.
const (
	maxInspectDeadline = time.Minute
	maxInspectMemory   = 64 << 10 // MiB
	maxInspectCache    = 1 << 20
)

// check refuses settings that contradict each other or loosen by accident.
func (i InspectorConf) check(bad func(key, format string, args ...any) error) error {
	if _, err := warden.ParseMode(i.Sandbox); err != nil {
		return bad("inspector.sandbox", "want required, best-effort or off")
	}
	switch least := warden.MinMemory >> 20; {
	case i.Workers < 0 || i.Workers > warden.MaxWorkers:
		return bad("inspector.workers", "want 1 to %d", warden.MaxWorkers)
	case i.Deadline < 0 || i.Deadline > 0 && i.Deadline < 100*time.Millisecond || i.Deadline > maxInspectDeadline:
		return bad("inspector.deadline", "want a time from 100ms to 1m")
	case i.MemoryMiB != 0 && (i.MemoryMiB < least || i.MemoryMiB > maxInspectMemory):
		return bad("inspector.memory_mib", "want %d to %d", least, maxInspectMemory)
	case i.Cache < -1 || i.Cache > maxInspectCache:
		return bad("inspector.cache", "want -1 to %d", maxInspectCache)
	}
	if err := i.Model.Check(); err != nil {
		why := strings.TrimPrefix(err.Error(), broker.ErrConfig.Error()+": ")
		if !errors.Is(err, broker.ErrConfig) {
			why = "cannot be used"
		}
		return bad("inspector.model", "%s", why)
	}
	return nil
}

// Options are the settings as a warden takes them, but for what only the program
// has: its log, and the broker of the model.
func (i InspectorConf) Options() warden.Options {
	return warden.Options{
		Mode: warden.Mode(i.Sandbox), Workers: i.Workers, Deadline: i.Deadline, Memory: int64(i.MemoryMiB) << 20, Cache: i.Cache,
		Opinion: i.Model.Limits(),
	}
}
