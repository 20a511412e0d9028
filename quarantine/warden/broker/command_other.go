//go:build !unix

package broker

import "os/exec"

// group: there are no process groups here; the command itself is ended, those it
// started may outlive it.
func group(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
