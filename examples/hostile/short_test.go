//go:build !long

package main

// Without the tag long: the newest revision of each era, and 2 s of freshness only
// where they are what is looked at.
const (
	everything = false
	bound      = "200ms"
)

var revisions = []string{"2025-11-25", "2026-07-28"}
