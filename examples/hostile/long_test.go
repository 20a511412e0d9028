//go:build long

package main

const (
	everything = true
	bound      = "2s"
)

var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
