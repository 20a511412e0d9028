//go:build !long

package soak_test

const (
	soakCalls = 400
	kills     = 10
)
