package upstream

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

var errResources = errors.New("no handles left")

// needed are further variables that programs cannot start without.
var needed = []string{"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramFiles", "ProgramData"}

// startError says why without repeating the command.
func startError(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return fs.ErrInvalid
}

func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup has no gentle form here.
func terminateGroup(p *os.Process) { _ = p.Kill() }
func killGroup(p *os.Process)      { _ = p.Kill() }

func reap(cmd *exec.Cmd) { _ = cmd.Wait() }

// A keeper is a job that the system ends, with all processes in it, when the last
// handle to it is closed: by us, or by our end.
type keeper struct{ job windows.Handle }

func keep(p *os.Process) *keeper {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, p)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil
	}
	return &keeper{job}
}

func assign(job windows.Handle, p *os.Process) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	return windows.AssignProcessToJobObject(job, h)
}

// release ends whatever the process left behind.
func (k *keeper) release() {
	if k != nil {
		_ = windows.CloseHandle(k.job)
	}
}
