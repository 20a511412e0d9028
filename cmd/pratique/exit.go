package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/advise"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/runs"
	"github.com/pratique-dev/pratique/registry/spool"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/writer"
)

// An exit is an exit code. Scripts branch on it; the codes never change their
// meaning.
type exit int

const (
	exitOK           exit = 0
	exitUsage        exit = 2 // the command line or configuration is wrong; nothing was tried
	exitNotFound     exit = 3 // no such file, key, tool, principal; or it is gone
	exitPrecondition exit = 4 // it could be done, but not as things stand: read the hint
	exitConflict     exit = 5 // somebody else has it, or changed it meanwhile
	exitBackend      exit = 6 // registry, disk or network failed; repeat later
	exitRefused      exit = 7 // refused: not yours, not good, tampered with
	exitSuspect      exit = 8 // scan: the worst item is suspect, and would be withheld
	exitRed          exit = 9 // scan: the worst item is red, and would be withheld
)

// exits documents the table; docs/cli.md is generated from it.
var exits = []struct {
	code exit
	name string
	when string
}{
	{exitOK, "ok", "done; or a torn tail that was repaired (`ledger verify` says so in `torn`)"},
	{exitUsage, "usage", "the command line or the configuration is wrong; nothing was tried"},
	{exitNotFound, "not found", "no such file, key, tool or principal, or it is gone (HTTP 404, 410)"},
	{exitPrecondition, "precondition", "not as things stand: too early, passphrase missing, loose permissions, input malformed, confirmation missing (HTTP 400, 412, 413, 415, 422)"},
	{exitConflict, "conflict", "somebody else has it or changed it meanwhile (HTTP 409)"},
	{exitBackend, "backend", "registry, disk or network failed, outcome may be unknown (HTTP 5xx)"},
	{exitRefused, "refused", "not yours, not good, or tampered with (HTTP 401, 403, 421, 429; a label that does not verify; a log that does not; a baseline that is damaged; an act that nobody authorised)"},
	{exitSuspect, "suspect", "`scan`: the worst item is suspect, and would be withheld"},
	{exitRed, "red", "`scan`: the worst item is red, and would be withheld"},
}

// usage is a wrong command line.
type usage struct{ text string }

func (u *usage) Error() string { return u.text }

func usagef(format string, args ...any) error { return &usage{fmt.Sprintf(format, args...)} }

// failed is an error with the command that it befell.
type failed struct {
	command string
	error
}

func (f *failed) Unwrap() error { return f.error }

// coded is an error whose exit code is known where it arises.
type coded struct {
	exit
	error
}

func (c *coded) Unwrap() error { return c.error }

// errInput refuses the content of a file or flag.
var (
	errInput  = errors.New("input is not what is expected")
	errUnsure = errors.New("this cannot be taken back and there is no terminal to ask on")
	errNo     = errors.New("not confirmed; nothing was done")
	// errTampered and errBad follow a report on stdout that says what was found.
	errTampered = errors.New("the log is not what was signed")
	errBad      = errors.New("the label does not hold")
	errFindings = errors.New("something is not as it should be")
)

// exitTable gives sentinels their codes. The first that matches counts, so
// what is more specific stands first.
var exitTable = []struct {
	code exit
	errs []error
}{
	{exitRefused, []error{errTampered, errBad, decisions.ErrKeys, spool.ErrDamaged, ledger.ErrFork, ledger.ErrRollback, ledger.ErrSignature, keyset.ErrRollback, keyset.ErrFork,
		client.ErrRoots, client.ErrBehind, node.ErrForced, writer.ErrPoisoned, writer.ErrRollback, envelope.ErrRevokedKey,
		baseline.ErrDamaged, baseline.ErrAct, baseline.ErrOwn, holds.ErrDamaged, holds.ErrAct, holds.ErrSpent, holds.ErrOwn, runs.ErrDamaged, runs.ErrAct, decisions.ErrAnchor,
		runs.ErrPresented, runs.ErrBound, runs.ErrUnbound, runs.ErrIntent, intent.ErrWider}},
	{exitConflict, []error{keyring.ErrKnownKey, keyring.ErrConflict, keyring.ErrKeyExists, fs.ErrExist, store.ErrBusy, store.ErrConflict,
		durable.ErrLocked, registry.ErrNameTaken, registry.ErrNameKept, registry.ErrExists, registry.ErrStaleGeneration,
		registry.ErrCommandReused, registry.ErrSpent, baseline.ErrStale, runs.ErrMoved}},
	{exitPrecondition, []error{canon.ErrSyntax, canon.ErrEmpty, canon.ErrBOM, canon.ErrTrailing, canon.ErrUTF8, canon.ErrSurrogate, canon.ErrNUL,
		canon.ErrControl, canon.ErrDuplicate, canon.ErrDepth, canon.ErrSize, canon.ErrNumber, canon.ErrNotObject, canon.ErrMember, canon.ErrShape}},
	{exitPrecondition, []error{errInput, errUnsure, errNo, errFindings, durable.ErrLoose, durable.ErrSymlink, durable.ErrOwner, durable.ErrNotRegular,
		durable.ErrNotFolder, durable.ErrTooLarge, keyring.ErrTooEarly, keyring.ErrState, keyring.ErrNoSuccessor, keyring.ErrRootOffline,
		keyring.ErrPassphrase, keyring.ErrPlain, keyring.ErrReason, keyring.ErrRole, keyring.ErrAlg, keyring.ErrTiming,
		keyring.ErrKeyEmpty, keyring.ErrKeyFormat, keyring.ErrKeyEncoding, keyring.ErrKeyTrailing, keyring.ErrKeyPublic, keyring.ErrKeyPEM,
		keyring.ErrKeyMismatch, keyring.ErrKeyUse, keyring.ErrKeyEncrypted, keyring.ErrKeyKind,
		envelope.ErrBlank, envelope.ErrTokenBOM, envelope.ErrTokenSize, client.ErrRootsFile, client.ErrStateForm,
		store.ErrPermission, registry.ErrStaleBase, baseline.ErrVerdict, baseline.ErrNotHeld, baseline.ErrCondemned,
		holds.ErrCondemned, holds.ErrNotKept, errFault, errTerminal, intent.ErrMissing, intent.ErrNothing}},
	{exitNotFound, []error{fs.ErrNotExist, keyring.ErrNotFound, keyring.ErrNoRing, errNoFolder, store.ErrNotFound, registry.ErrNotFound, ledger.ErrNoCheckpoint, baseline.ErrMissing, holds.ErrMissing, runs.ErrEnded, runs.ErrNoResult}},
	{exitUsage, []error{node.ErrConfig, policy.ErrRules, advise.ErrCases, intent.ErrFile, upstream.ErrOptions, baseline.ErrCommand, client.ErrURL, client.ErrOptions, client.ErrBatch, credentials.ErrKeyID, credentials.ErrToolID, credentials.ErrAgentID,
		credentials.ErrPrinID, credentials.ErrTokenID, credentials.ErrDigest, credentials.ErrAction}},
	{exitRefused, []error{keyset.ErrStale, keyset.ErrRoot, labels.ErrStale, labels.ErrLowered, registry.ErrNotOwner, registry.ErrNotOperator, registry.ErrNotObserver, registry.ErrOwnTool}},
	{exitBackend, []error{client.ErrUnreachable, client.ErrAnswer, client.ErrNoKeys, keyring.ErrDamaged, keyring.ErrRollback, keyring.ErrStale,
		registry.ErrStaleView, registry.ErrUnknownOutcome, context.Canceled, context.DeadlineExceeded}},
}

// exitCode is the exit code of an error.
func exitCode(err error) exit {
	if err == nil {
		return exitOK
	}
	if c, ok := errors.AsType[*coded](err); ok {
		return c.exit
	}
	if _, ok := errors.AsType[*usage](err); ok {
		return exitUsage
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		return exitOfProblem(e)
	}
	for _, row := range exitTable {
		for _, target := range row.errs {
			if errors.Is(err, target) {
				return row.code
			}
		}
	}
	return exitBackend
}

// exitOfProblem is the exit code of a refusal by the registry.
func exitOfProblem(p *client.Error) exit {
	switch p.Code {
	case "key_too_early", "key_state", "root_offline": // HTTP has no better word for them than conflict
		return exitPrecondition
	}
	switch p.Status {
	case 404, 410:
		return exitNotFound
	case 400, 405, 406, 412, 413, 414, 415, 422, 428, 431:
		return exitPrecondition
	case 409:
		return exitConflict
	case 401, 403, 421, 429:
		return exitRefused
	}
	return exitBackend
}

// report tells the person what went wrong, and what to do about it.
func (e *env) report(err error) int {
	if err == nil {
		return int(exitOK)
	}
	name := "pratique"
	if f, ok := errors.AsType[*failed](err); ok && f.command != "" && f.command != "pratique" {
		name += " " + f.command
	}
	text := err.Error()
	if p, ok := errors.AsType[*client.Error](err); ok {
		text = strings.Replace(text, p.Error(), describe(p), 1)
	}
	if errors.Is(err, intent.ErrWider) {
		text = oneLine(text)
	}
	fmt.Fprintf(e.err, "%s: %s\n", name, plain(text))
	if h := hintFor(err); h != "" {
		fmt.Fprintf(e.err, "hint: %s\n", plain(h))
	}
	code := exitCode(err)
	if code == exitUsage && name != "pratique" {
		fmt.Fprintf(e.err, "hint: %s --help\n", name)
	}
	return int(code)
}

// describe is a refusal by the registry with its status and code.
func describe(p *client.Error) string {
	s := fmt.Sprintf("the registry refused: %d %s: %s", p.Status, p.Code, strings.TrimSuffix(p.Title, "."))
	if p.Detail != "" {
		s += ": " + p.Detail
	}
	if p.Field != "" {
		s += " (" + p.Field + ")"
	}
	return s
}

// hints say what to do, by what went wrong.
var hints = []struct {
	err  error
	hint string
}{
	{errUnsure, "add --yes"},
	{errNoFolder, "pratique up and pratique guard make a data folder at their first start; --data names another one"},
	{durable.ErrLoose, "chmod 600 the file, or chmod 700 the folder; a data folder that nothing names is the folder of --config, so --data or `data` in the file may be what is missing"},
	{keyring.ErrKeyExists, "choose another file: a key is never overwritten"},
	{keyring.ErrPassphrase, "give --passphrase-file or --passphrase-fd"},
	{keyring.ErrKeyEncrypted, "give --passphrase-file or --passphrase-fd"},
	{keyring.ErrTooEarly, "wait until then; if the key may have leaked, pratique keys revoke takes over at once"},
	{keyring.ErrNoSuccessor, "pratique keys generate and keys publish make one"},
	{keyring.ErrRootOffline, "hand the root key in with --root-key"},
	{registry.ErrStaleGeneration, "pratique tools renew fetches a handle of the current generation"},
	{registry.ErrHandleRevoked, "pratique tools renew fetches a fresh handle"},
	{registry.ErrKeyNotUsable, "pratique tools renew fetches a handle by the current key"},
	{registry.ErrStaleBase, "somebody changed the tool since: look at it (pratique tools show), then pratique tools renew"},
	{registry.ErrNameTaken, "choose another name, or ask the operator who holds it"},
	{registry.ErrNotEnrolled, "an operator enrols a key with: pratique principals enrol --id PRINCIPAL --origin ORIGIN"},
	{client.ErrUnreachable, "is the registry running at this URL? nothing is lost by trying again"},
	{client.ErrURL, "give the registry's external URL, as pratique up prints it"},
	{keyset.ErrStale, "fetch the key set again, or state the bound that you accept with --max-stale"},
	{labels.ErrStale, "fetch the key set again, or state the bound that you accept with --max-stale"},
	{node.ErrForced, "what came after the backup would be lost; if that is meant: --accept-loss"},
	{store.ErrBusy, "stop what uses the folder first"},
	{baseline.ErrStale, "pratique surface diff shows what is there now"},
	{baseline.ErrMissing, "pratique surface list, or pratique quarantine list --all, shows what there is; a changed launch is accepted with --launch"},
	{baseline.ErrVerdict, "pratique quarantine list names it; look at it with quarantine show, then quarantine release lets exactly that through"},
	{baseline.ErrCondemned, "pratique quarantine release undoes a condemnation"},
	{holds.ErrCondemned, "pratique quarantine list --state condemned shows what; a release of that undoes it"},
	{holds.ErrMissing, "pratique quarantine list shows what there is"},
	{holds.ErrDamaged, "nothing is released by it; keep it, and remove it from the holds folder once you have looked"},
	{errTerminal, "without --raw nothing in it is obeyed; or send it to a pipe or file"},
	{runs.ErrEnded, "pratique runs list shows which go on"},
	{runs.ErrPresented, "pratique intent run FILE makes a new credential and seals it before anybody has it"},
	{runs.ErrBound, "pratique intent check FILE --agent AGENT says what is not narrower; for another task pratique intent run makes another credential"},
	{intent.ErrWider, "pratique intent run FILE makes another credential for what this one may not do"},
	{errUnseen, "--look sees one of the configuration (--config, or pratique.yaml in the data folder) now: it starts or reaches the server, lists what it shows and pins that; or let an agent list it once"},
	{intent.ErrMissing, "pratique surface list shows the items, and what the others wait for"},
	{runs.ErrNoResult, "pratique runs show --id RUN shows what is withdrawn"},
	{baseline.ErrDamaged, "nothing of this upstream is shown until its file is restored, or removed: then everything is pinned as if seen for the first time"},
	{decisions.ErrAnchor, "keep the folder as it is; pratique ledger verify --data DIR says more"},
	{decisions.ErrFull, "raise gateway.record_mib, or begin a new data folder: nothing that is on record is deleted"},
	{spool.ErrDamaged, "keep the folder as it is; pratique ledger verify --data DIR says more"},
	{errCannotReplay, "only what is missing can change that: values are kept for the time that gateway.retention says"},
	{errTampered, "keep the folder as it is; compare with a backup and the checkpoints kept elsewhere"},
}

func hintFor(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return h.hint
		}
	}
	p, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
		return ""
	case p.Code == "invalid_token":
		return "pratique tools renew fetches a fresh handle by the key alone"
	}
	return p.Remedy
}
