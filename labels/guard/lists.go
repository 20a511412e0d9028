package guard

import (
	"slices"
	"strings"

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

// A reach is what a rule about paths may be about for an ask or a never: what lies in its
// folders, and the folders around those, which a move or a deletion takes along.
type reach struct {
	in     *path.Rule
	around *path.Rule // nil: nothing but the root
	whole  bool       // whether the root is around
}

func newReach(in *path.Rule, o path.Options) (*reach, error) {
	a := &reach{in: in}
	up := path.Options{Windows: o.Windows}
	for _, folder := range o.Within {
		if o.Windows {
			folder = strings.ReplaceAll(folder, `\`, "/")
		}
		root := ""
		if drive.MatchString(folder) {
			root, folder = folder[:3], folder[3:]
		} else if strings.HasPrefix(folder, "/") {
			root = "/"
		}
		segs := slices.DeleteFunc(strings.Split(folder, "/"), func(s string) bool { return s == "" || s == "." })
		a.whole = a.whole || len(segs) > 0
		for n := 1; n < len(segs); n++ {
			up.Exactly = append(up.Exactly, root+strings.Join(segs[:n], "/"))
		}
	}
	if len(up.Exactly) == 0 {
		return a, nil
	}
	var err error
	a.around, err = path.New(up)
	return a, err
}

// isRoot tells whether a text is the folder that all others of its kind lie in.
func isRoot(text string) bool {
	if len(text) > 1 && text[1] == ':' && isLetter(text[0]) {
		text = text[2:]
	}
	return strings.Trim(text, `./\ `) == ""
}

// any tells whether a text, or a path of the list that it may be, may be one that the
// rule is about.
func (a *reach) any(text string, many bool, files Files) bool {
	may := a.may(text, files)
	ok := may || path.Listed(text, many, func(part string) bool {
		may = a.may(part, files)
		return !may
	})
	return may || !ok
}

func (a *reach) may(text string, files Files) bool {
	return a.in.Check(text, files) != path.WhyOutside || a.whole && isRoot(text) || a.around != nil && a.around.Check(text, files) != path.WhyOutside
}
