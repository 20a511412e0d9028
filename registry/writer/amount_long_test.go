//go:build long

package writer_test

const (
	kills   = 200
	changes = 1000
	paced   = 20 // seconds
)
