//go:build !long

package sqlite_test

const kills = 5
