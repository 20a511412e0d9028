package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A File is one parsed source file.
type File struct {
	Path string // relative to the module, with slashes
	Test bool
	AST  *ast.File
}

// Dir is the package path that the file belongs to.
func (f File) Dir() string { return path.Dir(f.Path) }

// Parse reads all Go files below root, whatever their build tags; testdata and
// hidden folders are left out.
func Parse(root string) (*token.FileSet, []File, error) {
	fset := token.NewFileSet()
	var files []File
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			name := d.Name()
			if p != root && (name == "testdata" || name == "vendor" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			return nil
		case filepath.Ext(p) != ".go":
			return nil
		}
		parsed, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		files = append(files, File{Path: filepath.ToSlash(rel), Test: strings.HasSuffix(p, "_test.go"), AST: parsed})
		return nil
	})
	return fset, files, err
}

// Load makes the graph of a module: direct imports from the files, what is
// reached from go list.
func Load(root, module string, files []File) (Graph, error) {
	g := Graph{}
	for _, f := range files {
		p := g[f.Dir()]
		if p == nil {
			p = &Package{Path: f.Dir()}
			g[f.Dir()] = p
		}
		for _, spec := range f.AST.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			to := &p.Imports
			if f.Test {
				to = &p.Tests
			}
			if imp = relative(module, imp); imp != p.Path && !slices.Contains(*to, imp) {
				*to = append(*to, imp)
			}
		}
	}
	return g, g.reach(root, module)
}

func relative(module, imp string) string {
	if imp == module {
		return "."
	}
	return strings.TrimPrefix(imp, module+"/")
}

// reach fills Reaches from go list, whose Deps are transitive.
func (g Graph) reach(root, module string) error {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Deps", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	d := json.NewDecoder(bytes.NewReader(out))
	for {
		var one struct {
			ImportPath string
			Deps       []string
		}
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		p := g[relative(module, one.ImportPath)]
		if p == nil {
			continue
		}
		for _, dep := range one.Deps {
			p.Reaches = append(p.Reaches, relative(module, dep))
		}
	}
}
