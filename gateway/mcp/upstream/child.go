package upstream

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A child is a running process with its streams, in a group of its own.
type child struct {
	cmd                   *exec.Cmd
	stdin, stdout, stderr *os.File
	exited                chan struct{} // closed when it has ended and was waited for
	close                 sync.Once
	keep                  *keeper
}

// startChild starts the command. Whatever happens to us, it does not stay.
func startChild(cmd *exec.Cmd) (*child, error) {
	ch := &child{cmd: cmd, exited: make(chan struct{})}
	var theirs [3]*os.File
	for i, ours := range []**os.File{&ch.stdin, &ch.stdout, &ch.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			ch.hangUp()
			closeAll(theirs[:])
			return nil, both(ErrStart, errResources)
		}
		if *ours, theirs[i] = r, w; i == 0 {
			*ours, theirs[i] = w, r
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	group(cmd)
	started := make(chan error)
	go ch.wait(started)
	err := <-started
	closeAll(theirs[:])
	if err != nil {
		ch.hangUp()
		return nil, both(ErrStart, startError(err))
	}
	return ch, nil
}

// wait starts the process and waits for it, on a thread of its own: Linux takes
// the end of the thread that started a process for the end of its parent.
func (ch *child) wait(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := ch.cmd.Start(); err != nil {
		started <- err
		return
	}
	ch.keep = keep(ch.cmd.Process)
	started <- nil
	reap(ch.cmd)
	ch.keep.release()
	close(ch.exited)
}

// stop asks the process to end by closing its stdin, then by signals, and waits
// until it has.
func (ch *child) stop(grace, kill time.Duration) {
	begun := time.Now()
	go func() { _ = ch.stdin.Close() }() // which may wait for a write
	if ch.within(grace) {
		return
	}
	terminateGroup(ch.cmd.Process)
	if ch.within(kill - time.Since(begun)) {
		return
	}
	killGroup(ch.cmd.Process)
	ch.within(kill) // a process that not even this ends is left to the system
}

func (ch *child) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ch.exited:
		return true
	case <-t.C:
		return false
	}
}

// hangUp closes our ends of the streams.
func (ch *child) hangUp() {
	ch.close.Do(func() { closeAll([]*os.File{ch.stdin, ch.stdout, ch.stderr}) })
}

// errors hands on what the process writes to standard error, to its end.
func (ch *child) errors(take func([]byte)) {
	buf := make([]byte, 4<<10)
	for {
		n, err := ch.stderr.Read(buf)
		if n > 0 {
			take(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
