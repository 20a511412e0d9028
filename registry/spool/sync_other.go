//go:build !linux

package spool

import "os"

// dataSync syncs data and metadata where nothing less is to be had.
func dataSync(f *os.File) error { return f.Sync() }
