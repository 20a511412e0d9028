//go:build long

package decisions_test

const kills = 100
