//go:build !unix

package sqlite

import (
	"fmt"
	"os"

	"github.com/pratique-dev/pratique/registry/store"
)

// Without advisory locks that the kernel gives back, two processes could
// share a folder without knowing of each other: refuse.
func openLock(string) (*os.File, error) {
	return nil, fmt.Errorf("%w: no advisory locks on this system", store.ErrUnsafe)
}

func private(string, os.FileInfo) error {
	return fmt.Errorf("%w: cannot be checked on this system", store.ErrPermission)
}

func tryLock(*os.File, bool) bool { return false }
func waitLock(*os.File) error     { return store.ErrUnsafe }
func unlock(*os.File)             {}
