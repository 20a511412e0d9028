package unfold

import "strings"

// inline are the elements that a renderer shows without a break: in the middle
// of a word they only take it apart.
var inline = map[string]bool{
	"a": true, "abbr": true, "b": true, "bdi": true, "bdo": true, "big": true, "code": true, "em": true, "font": true, "i": true,
	"ins": true, "mark": true, "s": true, "small": true, "span": true, "strong": true, "sub": true, "sup": true, "u": true, "wbr": true,
}

// longestTag bounds what is taken for a tag inside of a word.
const longestTag = 256

// tag reads a < of the view: a comment or an inline tag inside of a word is left
// out.
func (f *folder) tag(i int) int {
	if i == 0 || classes[f.text[i-1]]&letterByte == 0 {
		return 1
	}
	s := f.text[i:min(len(f.text), i+longestTag)]
	n := 0
	if strings.HasPrefix(s, "<!--") {
		if n = strings.Index(s, "-->"); n > 0 {
			n += len("-->")
		}
	} else if end := strings.IndexByte(s, '>'); end > 1 {
		name, _, _ := strings.Cut(strings.Trim(s[1:end], "/"), " ")
		if inline[strings.ToLower(name)] {
			n = end + 1
		}
	}
	if n <= 0 || i+n >= len(f.text) || classes[f.text[i+n]]&letterByte == 0 {
		return 1
	}
	return f.replace(i, n, "")
}

// leastWords is how many words make a text out of what is hidden.
const leastWords = 3

// markup shows what a renderer hides: comments, and elements whose style says
// so.
func (u *unfolder) markup(v *View) {
	text := v.Text
	for i := 0; ; {
		k := strings.IndexByte(text[i:], '<')
		if k < 0 {
			break
		}
		i += k
		if strings.HasPrefix(text[i:], "<!--") {
			end := strings.Index(text[i:], "-->")
			if end < 0 {
				end = len(text) - i
			}
			u.unseen(v, i+4, i+max(end, 4), i, min(i+end+3, len(text)))
			i += max(end, 4)
			continue
		}
		i += 1 + u.element(v, i)
	}
	for i := 0; ; { // a link definition that nothing links to: the comment of Markdown
		k := strings.Index(text[i:], "]: #")
		if k < 0 {
			break
		}
		k += i
		open := strings.LastIndexByte(text[max(i, k-12):k], '[') + max(i, k-12)
		i = k + 4
		if label := text[max(open, 0) : k+1]; label != "[//]" && label != "[comment]" && label != "[_]" {
			continue
		}
		end := strings.IndexByte(text[i:], '\n')
		if end < 0 {
			end = len(text) - i
		}
		u.unseen(v, i, i+end, open, i+end)
		i += end
	}
}

// element looks at a tag at byte i: where its style hides it, its content is
// shown. It returns the bytes of the tag beyond the first.
func (u *unfolder) element(v *View, i int) int {
	text := v.Text
	if i+1 >= len(text) || classes[text[i+1]]&letterByte == 0 {
		return 0
	}
	end := strings.IndexByte(text[i:min(len(text), i+1024)], '>')
	if end < 8 {
		return max(end, 0)
	}
	if !hides(text[i : i+end]) {
		return end
	}
	from := i + end + 1
	to := strings.Index(text[from:], "</")
	if to < 0 {
		to = len(text) - from
	}
	u.unseen(v, from, from+to, i, from+to)
	return end + to
}

// styles are what hides an element, in lower case and without blanks.
var styles = []string{
	"display:none", "visibility:hidden", "font-size:0", "font-size:1px", "opacity:0;", "opacity:0\"", "opacity:0'", "color:#fff", "color:white", "color:transparent",
	"text-indent:-", "left:-9", "top:-9", "height:0", "width:0", "clip:rect(0", "mso-hide:all",
}

func hides(tag string) bool {
	low := strings.ToLower(tag)
	if strings.Contains(low, " hidden") {
		return true
	}
	if !strings.Contains(low, "style") {
		return false
	}
	low = strings.ReplaceAll(low, " ", "")
	for _, s := range styles {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// unseen shows the words in [from, to) of a view, hidden by the markup in
// [start, end).
func (u *unfolder) unseen(v *View, from, to, start, end int) {
	inner := v.Text[from:to]
	n := len(strings.Fields(inner))
	if n < leastWords {
		return
	}
	u.sign(v, Comment, Markup, start, end, n)
	u.show(v, hidden{layer: Markup, text: inner, steps: []step{{orig: int32(from)}}})
}
