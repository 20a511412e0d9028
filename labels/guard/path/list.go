package path

import "strings"

// listMarks part the paths of a list in one text.
const listMarks = ",;\r\n"

// Listed calls f with each path of a text that may be a list: parted by commas,
// semicolons and line breaks, and with blanks by those too, where a part then begins
// like a path or leads up. It calls f with none where nothing parts the text, and ends
// where f is false; ok is false where the text is too long to be told apart.
func Listed(text string, blanks bool, f func(path string) bool) (ok bool) {
	marks := listMarks
	if blanks && strings.IndexByte(text, ' ') >= 0 && leads(text) {
		marks = listMarks + " \t"
	}
	if len(marks) == len(listMarks) && !marked(text) {
		return true
	}
	if len(text) > maxPath {
		return false
	}
	for text != "" {
		part, rest := text, ""
		if i := strings.IndexAny(text, marks); i >= 0 {
			part, rest = text[:i], text[i+1:]
		}
		if text = rest; strings.TrimSpace(part) == "" {
			continue
		}
		if !f(strings.TrimSpace(part)) {
			return true
		}
	}
	return true
}

// marked tells whether something parts a text, without a table for each.
func marked(text string) bool {
	for i := range len(text) {
		if c := text[i]; c == ',' || c == ';' || c == '\n' || c == '\r' {
			return true
		}
	}
	return false
}

// leads tells whether a word of a text is an absolute path, one from a home folder, or
// one that leads up.
func leads(text string) bool {
	for w := range strings.FieldsSeq(text) {
		switch {
		case strings.IndexByte(`/\~`, w[0]) >= 0, len(w) > 2 && letter(w[0]) && w[1] == ':':
			return true
		}
		for seg := range strings.FieldsFuncSeq(w, func(r rune) bool { return r == '/' || r == '\\' }) {
			if seg == ".." {
				return true
			}
		}
	}
	return false
}
