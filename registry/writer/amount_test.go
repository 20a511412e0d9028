//go:build !long

package writer_test

const (
	kills   = 5
	changes = 60
	paced   = 1 // seconds
)
