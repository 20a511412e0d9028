package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry"
)

// indexName is the index of a handles folder. No handle file has its name.
const indexName = "index.json"

// A handleIndex is the index of a handles folder: what was registered, as it
// was then, and where each handle is.
type handleIndex struct {
	Registry string        `json:"registry"`
	Origin   string        `json:"origin"`
	Tools    []indexedTool `json:"tools"`
}

type indexedTool struct {
	Name       string             `json:"name"`
	ID         credentials.ToolID `json:"id"`
	File       string             `json:"file" doc:"name of the handle file in the folder: the tool's name, but for names that are no file name"`
	Digest     credentials.Digest `json:"digest"`
	Generation uint64             `json:"generation"`
	Version    uint64             `json:"version"`
}

// A handleFolder receives one handle file per tool, named by tool name, and an
// index. Files that are there are never replaced.
type handleFolder struct {
	dir   string
	index handleIndex
}

// openHandles makes or opens the folder before anything is registered, so that
// what cannot be kept is not registered either.
func openHandles(dir, registryURL, origin string, names []string) (*handleFolder, error) {
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o700); err != nil {
		return nil, err
	}
	if err := durable.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	h := &handleFolder{dir: dir, index: handleIndex{Registry: registryURL, Origin: origin, Tools: []indexedTool{}}}
	old, err := readIndex(dir)
	switch {
	case err == nil && (old.Registry != registryURL || old.Origin != origin):
		return nil, fmt.Errorf("%w: %s holds handles of %s at %s", fs.ErrExist, dir, old.Origin, old.Registry)
	case err == nil:
		h.index = old
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for _, n := range names {
		if fileName(n) && exists(filepath.Join(dir, n)) {
			return nil, fmt.Errorf("%w: %s", fs.ErrExist, filepath.Join(dir, n))
		}
	}
	return h, h.tryWrite()
}

// tryWrite finds out now whether the folder can be written to.
func (h *handleFolder) tryWrite() error {
	f, err := os.CreateTemp(h.dir, ".try-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func readIndex(dir string) (handleIndex, error) {
	var x handleIndex
	raw, err := durable.ReadPrivate(filepath.Join(dir, indexName), maxText)
	if err != nil {
		return x, err
	}
	if err := canon.Unmarshal(raw, &x, canon.Limits{Bytes: maxText, Depth: 4}); err != nil {
		return x, fmt.Errorf("%w: %s: %w", errInput, filepath.Join(dir, indexName), err)
	}
	for _, t := range x.Tools {
		if !fileName(t.File) {
			return x, fmt.Errorf("%w: %s names a file outside the folder", errInput, filepath.Join(dir, indexName))
		}
	}
	return x, nil
}

// fileName reports whether a handle file may have this name: nothing that leads
// out of the folder, and not the index. Case is folded, as some file systems do.
func fileName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\\\x00") && !strings.EqualFold(s, indexName)
}

// add writes the handle of one registered tool and gives its file name.
func (h *handleFolder) add(v registry.HandleView) (string, error) {
	name := v.Name
	if credentials.CheckToolName(name) != nil || !fileName(name) {
		name = string(v.ID) + ".handle"
	}
	err := writeNew(filepath.Join(h.dir, name), []byte(v.Handle+"\n"))
	if errors.Is(err, fs.ErrExist) { // a file system that folds case
		name = string(v.ID) + ".handle"
		err = writeNew(filepath.Join(h.dir, name), []byte(v.Handle+"\n"))
	}
	if err != nil {
		return "", err
	}
	h.index.Tools = slices.DeleteFunc(h.index.Tools, func(t indexedTool) bool { return t.File == name })
	h.index.Tools = append(h.index.Tools, indexedTool{v.Name, v.ID, name, v.Digest, v.Generation, v.Version})
	return name, nil
}

// close writes the index, last and whole.
func (h *handleFolder) close() error {
	raw, err := canon.Marshal(h.index)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(h.dir, indexName), append(raw, '\n'), 0o600)
}

// isToken tells a token from a path: a token has three parts, and its first is
// a JSON object in base64url.
func isToken(s string) bool {
	s = strings.Trim(strings.TrimPrefix(s, "\ufeff"), " \t\r\n\v\f")
	return strings.HasPrefix(s, "eyJ") && strings.Count(s, ".") == 2 && !strings.Contains(s, "/")
}

// handle reads --handle: a file, or the handle itself. file is empty for the
// latter. White space around it is tolerated; inside, it is refused by name.
func (c *call) handle() (h client.Handle, file string, err error) {
	s := c.str("handle")
	text := s
	if !isToken(s) {
		file = s
		raw, err := c.readFile(file, 64<<10)
		if err != nil {
			return h, "", fmt.Errorf("handle file: %w", err)
		}
		if st, err := os.Stat(file); err == nil && st.Mode().Perm()&0o077 != 0 {
			// Of no use without the key, so that this is no reason to refuse it.
			c.note("note: %s can be read by others; chmod 600 it", file)
		}
		text = string(raw)
	}
	h, err = client.ParseHandle(text)
	if err != nil {
		return h, file, fmt.Errorf("%w: %w", errInput, err)
	}
	return h, file, nil
}

// keepHandle puts a fresh handle into the file that the old one came from, if
// there is one.
func keepHandle(file, handle string) error {
	if file == "" {
		return nil
	}
	return durable.WriteFile(file, []byte(handle+"\n"), 0o600)
}
