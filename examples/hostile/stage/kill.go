package stage

// Kill ends up with SIGKILL, as a power cut does, and waits until it is gone.
func (h *House) Kill() {
	h.t.Helper()
	_ = h.up.cmd.Process.Kill()
	<-h.up.done
	h.up.done <- nil
	h.up = nil
}

// Pid is the process of up.
func (h *House) Pid() int { return h.up.cmd.Process.Pid }
