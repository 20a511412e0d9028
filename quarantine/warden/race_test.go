//go:build race

package warden

const race = 1
