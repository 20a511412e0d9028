package guard

import (
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/path"
)

// parts judges the paths of a list in one text, each.
func (w *walker) parts(v args.Value, text string) {
	if !path.Listed(text, false, func(part string) bool {
		w.refuse("path", v, w.set.paths.Check(part, w.call.Files))
		return true
	}) {
		w.refuse("path", v, path.WhyLong)
	}
}

// allPaths is why a text, or a path of the list that it may be, is refused.
func allPaths(r *path.Rule, text string, many bool, files Files) (why string) {
	if why = r.Check(text, files); why != "" {
		return why
	}
	if !path.Listed(text, many, func(part string) bool {
		why = r.Check(part, files)
		return why == ""
	}) {
		return path.WhyLong
	}
	return why
}

// anyPath tells whether a text, or a path of the list that it may be, may be one that
// passes.
func anyPath(r *path.Rule, text string, many bool, files Files) bool {
	may := r.Check(text, files) != path.WhyOutside
	ok := may || path.Listed(text, many, func(part string) bool {
		may = r.Check(part, files) != path.WhyOutside
		return !may
	})
	return may || !ok
}
