//go:build long

package soak_test

const (
	soakCalls = 10_000
	kills     = 100
)
