package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
)

// A LedgerReport is what a walk over the whole log of a folder found.
type LedgerReport struct {
	ledger.Report
	Origin  string         // the log's name
	Repairs []store.Repair // what openings mended so far; kept, so that a tear is never forgotten
	Known   int            // checkpoints kept outside the store that it was held against
	Fold    error          // why the entries are not a history of this registry, or nil
	// Decisions is the walk over the spools of the decision log, held against the
	// anchors where the log itself is whole.
	Decisions decisions.Report
}

// Torn reports whether a crash tore the end of the log, now or earlier.
func (r *LedgerReport) Torn() bool {
	return len(r.Repairs) > 0 || len(r.Problems) > 0 && r.TornOnly() || r.Decisions.Torn()
}

// Tampered reports whether anything is wrong that no crash explains.
func (r *LedgerReport) Tampered() bool {
	return r.Fold != nil || len(r.Problems) > 0 && !r.TornOnly() || len(r.Decisions.Problems) > 0
}

// VerifyLedger walks every entry, checkpoint and the head of the log in a data
// folder, holds them against the checkpoints kept outside, and folds the
// events. The folder may be in use. progress is told of the entries read.
func VerifyLedger(ctx context.Context, cfg Config, opt Options, progress func(done uint64)) (LedgerReport, error) {
	var rep LedgerReport
	n := &Node{cfg: cfg.WithDefaults(), opt: opt}
	n.opt.Offline = true
	if n.opt.Now == nil {
		n.opt.Now = time.Now
	}
	pass, err := n.passphrase()
	if err != nil {
		return rep, err
	}
	ring, err := keyring.Open(n.cfg.path(keysFolder), keyring.Options{Passphrase: pass, Timing: n.cfg.timing(), Now: n.opt.Now})
	if err != nil {
		return rep, err
	}
	l, err := sqlite.Open(ctx, n.cfg.path(logFolder), &sqlite.Options{Existing: true, Now: n.opt.Now})
	if err != nil {
		return rep, err
	}
	defer l.Close()
	if rep.Repairs, err = l.Repairs(ctx); err != nil {
		return rep, err
	}
	if rep.Origin, err = logOrigin(ctx, l, ring); err != nil {
		rep.Origin = "" // the newest note is no checkpoint: the walk says so
	}
	o := ledger.VerifyOptions{Progress: progress}
	if rep.Origin != "" {
		if o.Policy, err = ledgerPolicy(ring, rep.Origin); err != nil {
			return rep, err
		}
		if o.Outside, err = outside(ctx, n.cfg, o.Policy); err != nil {
			return rep, err
		}
	}
	rep.Known = len(o.Outside)
	if rep.Report, err = ledger.Verify(ctx, l, o); err != nil {
		return rep, err
	}
	var anchors []decisions.Anchor
	if rep.OK() {
		var view *state.View
		if view, rep.Fold = foldAll(ctx, l); rep.Fold == nil {
			anchors = anchorsIn(view)
		}
	}
	rep.Decisions, err = decisions.Verify(ctx, n.cfg.Data, anchors)
	return rep, err
}

// outside are the checkpoints kept elsewhere, as notes.
func outside(ctx context.Context, cfg Config, policy ledger.Policy) ([][]byte, error) {
	files, urls := cfg.copies()
	known, err := (&ledger.Copies{Files: files, URLs: urls}).Known(ctx, policy)
	if err != nil {
		return nil, err
	}
	var notes [][]byte
	for _, k := range known {
		notes = append(notes, k.Note)
	}
	return notes, nil
}

// Backup writes a consistent copy of a folder's log while it may be in use.
// Keys are not in it: they are backed up as files, encrypted.
func Backup(ctx context.Context, cfg Config, to string) error {
	l, err := sqlite.Open(ctx, cfg.path(logFolder), &sqlite.Options{Existing: true})
	if err != nil {
		return err
	}
	defer l.Close()
	return l.BackupTo(ctx, to)
}

// A Restored says what a restore did.
type Restored struct {
	Before, After uint64 // sizes of the replaced log and of the backup
	Kept          string // where the replaced database is now
	Revoked       int    // signing keys that were revoked with it
}

// ErrForced says that a restore would throw acknowledged entries away.
var ErrForced = errors.New("the backup is older than a checkpoint that is known")

// Restore replaces the log of a folder by a backup, as an operator's act. It
// refuses one that is older than the newest checkpoint it can know, unless the
// loss is accepted in so many words: then the copies of newer checkpoints are
// set aside too. Everything that was signed before ends: handle and label keys
// are revoked (RULES.md 28).
func Restore(ctx context.Context, cfg Config, opt Options, from, reason string, acceptLoss bool) (Restored, error) {
	opt.Offline = true
	cfg = cfg.WithDefaults()
	var out Restored
	if err := sqlite.Idle(cfg.path(logFolder)); err != nil {
		return out, fmt.Errorf("restore: %w", err)
	}
	if err := checkBackup(ctx, cfg, opt, from, acceptLoss); err != nil {
		return out, err
	}
	r, err := sqlite.Restore(ctx, cfg.path(logFolder), from, nil)
	if err != nil {
		return out, err
	}
	out.Before, out.After, out.Kept = r.Before.Size, r.After.Size, r.Kept
	if err := removeIfThere(cfg.path(snapshotFile)); err != nil {
		return out, err
	}
	if acceptLoss {
		files, _ := cfg.copies()
		for _, f := range files {
			if err := setAside(f); err != nil {
				return out, err
			}
		}
	}
	n, err := Open(ctx, cfg, opt)
	if err != nil {
		return out, err
	}
	defer n.Close()
	cmd := &registry.RecordRestore{Size: r.After.Size, Reason: reason}
	cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal("")
	cmd.Req = sumOf(cmd.ID)
	if _, err := n.record.Do(ctx, cmd); err != nil {
		return out, err
	}
	out.Revoked, err = n.endAllSigned(ctx)
	return out, err
}

// endAllSigned revokes every key whose handles and labels may be about.
func (n *Node) endAllSigned(ctx context.Context) (int, error) {
	count := 0
	for _, i := range n.ring.List() {
		if i.Role != "handle" && i.Role != "label" || !i.State.Verifies() || i.State == "published" {
			continue
		}
		if _, err := n.ring.Revoke(i.Kid, "log restored from a backup"); err != nil {
			return count, err
		}
		count++
	}
	_, err := n.keys.catchUp(ctx, "")
	return count, err
}

// checkBackup opens a copy of the backup and holds it against every
// checkpoint that is known.
func checkBackup(ctx context.Context, cfg Config, opt Options, from string, acceptLoss bool) error {
	dir, err := os.MkdirTemp(cfg.Data, ".restore-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := sqlite.Restore(ctx, dir, from, nil); err != nil {
		return err
	}
	l, err := sqlite.Open(ctx, dir, &sqlite.Options{Existing: true})
	if err != nil {
		return err
	}
	defer l.Close()
	n := &Node{cfg: cfg, opt: opt}
	pass, err := n.passphrase()
	if err != nil {
		return err
	}
	ring, err := keyring.Open(cfg.path(keysFolder), keyring.Options{Passphrase: pass, Timing: cfg.timing()})
	if err != nil {
		return err
	}
	name, err := logOrigin(ctx, l, ring)
	if err != nil {
		return err
	}
	policy, err := ledgerPolicy(ring, name)
	if err != nil {
		return err
	}
	notes, err := outside(ctx, cfg, policy)
	if err != nil {
		return err
	}
	rep, err := ledger.Verify(ctx, l, ledger.VerifyOptions{Policy: policy, Outside: notes})
	if err != nil {
		return err
	}
	for _, p := range rep.Problems {
		if p.Kind == ledger.KindRollback && acceptLoss {
			continue
		}
		if p.Kind == ledger.KindRollback {
			return fmt.Errorf("%w: %s", ErrForced, p)
		}
		return fmt.Errorf("backup: %s", p)
	}
	return nil
}

func removeIfThere(path string) error {
	err := os.Remove(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func setAside(path string) error {
	err := os.Rename(path, path+".before-restore")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
