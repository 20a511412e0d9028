package spool_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pratique-dev/pratique/registry/spool"
)

func Example() {
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	o := spool.Options{Key: make([]byte, 32), Segment: 1 << 17}
	s, err := spool.Open(filepath.Join(dir, "one"), o)
	if err != nil {
		panic(err)
	}
	for _, r := range []string{"first", "second"} {
		if _, err := s.Append([]byte(r)); err != nil {
			panic(err)
		}
	}
	fmt.Println(s.Sync(2), s.Head().Size)
	_, err = spool.Open(filepath.Join(dir, "one"), o)
	fmt.Println(err)
	s.Close()

	o.Visit = func(i uint64, b []byte) error { fmt.Println(i, string(b)); return nil }
	s, err = spool.Open(filepath.Join(dir, "one"), o)
	fmt.Println(err)
	s.Close()
	// Output:
	// <nil> 2
	// spool: belongs to another process that is alive: one
	// 0 first
	// 1 second
	// <nil>
}
