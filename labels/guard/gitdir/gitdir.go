// Package gitdir tells whether a path names the folder that a Git repository keeps its
// refs, hooks and settings in, in any spelling that some system takes for its name. It
// goes by what Git itself refuses to check out (CVE-2014-9390, CVE-2019-1352), and is
// less careful than any of the systems: letters that look alike count too.
package gitdir

import (
	"bytes"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// A Place is where a path leads.
type Place uint8

const (
	Elsewhere Place = iota
	Folder          // the folder itself, or the file that stands for it
	Inside          // something below it
)

// maxUndone is how often percent escapes are undone; what is encoded more often was
// written to be read in many ways.
const maxUndone = 8

// Of is where a path leads, or the paths of a list with commas, semicolons or line
// breaks. A URL of the web or of a server is no path.
func Of(path string) Place {
	if !May(path) {
		return Elsewhere
	}
	var room [256]byte
	b := lookalike.Fold(room[:0], path)
	for range maxUndone {
		if p := look(b); p != Elsewhere {
			return p
		}
		n, wide := undo(b)
		if n == len(b) {
			return Elsewhere
		}
		if b = b[:n]; wide {
			b = lookalike.Fold(nil, string(b))
		}
	}
	return Inside
}

// May is a first look at a text: false where no part of it can name the folder.
func May(text string) bool {
	for i := range len(text) {
		switch classes[text[i]] {
		case odd:
			return true
		case dot:
			if i+1 < len(text) && follows[text[i+1]] {
				return true
			}
		case tilde: // git~1
			if i > 0 && (text[i-1]|0x20 == 't' || dropped[text[i-1]]) {
				return true
			}
		}
	}
	return false
}

// Classes of bytes, for May.
const (
	odd = 1 + iota
	dot
	tilde
)

var classes = func() (t [256]uint8) {
	t['.'], t['~'], t['%'] = dot, tilde, odd
	for c := 0x80; c < len(t); c++ {
		t[c] = odd
	}
	return t
}()

// dropped are what shells and URLs take out of a name.
var dropped = func() (t [256]bool) {
	for _, c := range []byte("'\"`{}\x7f") {
		t[c] = true
	}
	for c := 1; c < ' '; c++ {
		t[c] = c != '\n' && c != '\r'
	}
	return t
}()

// follows are what may stand behind the dot of the name.
var follows = func() (t [256]bool) {
	for _, c := range []byte("gG$*?[]") {
		t[c] = true
	}
	for c := range t {
		t[c] = t[c] || dropped[c] || c >= 0x80 || c == '%'
	}
	return t
}()

// undo undoes percent escapes once, in place, and says how long the text is then, and
// whether it has characters outside of ASCII. Overlong forms become what they mean.
func undo(b []byte) (n int, wide bool) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '%' && i+2 < len(b) {
			if h, l := digit(b[i+1]), digit(b[i+2]); h >= 0 && l >= 0 {
				c = byte(h<<4 | l)
				if i += 2; n > 0 && b[n-1]&^1 == 0xc0 && c&0xc0 == 0x80 {
					n--
					c = b[n]&1<<6 | c&0x3f
				}
				if 'A' <= c && c <= 'Z' {
					c |= 0x20
				}
			}
		}
		wide = wide || c >= 0x80
		b[n] = c
		n++
	}
	return n, wide
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// look reads the segments of a text in small letters.
func look(b []byte) Place {
	b = withoutURL(b)
	bare := false // whether a folder x.git stands before
	for i := 0; i <= len(b); i++ {
		j := i
		for j < len(b) && !parts[b[j]] {
			j++
		}
		seg := b[i:j]
		var room [32]byte
		switch name := plain(room[:0], seg); {
		case isGit(name):
			if len(bytes.Trim(b[j:], "/\\. ")) == 0 {
				return Folder
			}
			return Inside
		case bare && members[string(name)]:
			return Inside
		case len(name) > 0:
			end := bytes.TrimRight(seg, ". '\"")
			bare = j < len(b) && (b[j] == '/' || b[j] == '\\') && len(end) > 4 && bytes.HasSuffix(end, []byte(".git"))
		}
		i = j
	}
	return Elsewhere
}

// parts are what parts a path, a list of them, a drive, a host or an option from it; and
// the name of a file from that of a stream.
var parts = func() (t [256]bool) {
	for _, c := range []byte("/\\:,;=|\n\r\x00") {
		t[c] = true
	}
	return t
}()

// members are what a repository without files of its own has in its folder.
var members = map[string]bool{"head": true, "config": true, "config.worktree": true, "packed-refs": true, "hooks": true, "refs": true, "reftable": true,
	"objects": true, "info": true, "logs": true, "worktrees": true, "modules": true, "index": true, "shallow": true, "commondir": true}

// plain appends a segment without quotes, variables of shells, controls, blanks before
// it and dots and blanks at its end; no more than there is room for.
func plain(b, seg []byte) []byte {
	for i := 0; i < len(seg); i++ {
		c := seg[i]
		switch {
		case dropped[c], len(b) == 0 && c == ' ':
		case c == '$':
			for i+1 < len(seg) && (seg[i+1] == '_' || digit(seg[i+1]) >= 0 || 'g' <= seg[i+1] && seg[i+1] <= 'z') {
				i++
			}
		case len(b) < cap(b):
			b = append(b, c)
		case c != ' ' && c != '.':
			return b
		}
	}
	return bytes.TrimRight(b, " .")
}

// isGit tells whether a name is that of the folder: as it is, as NTFS shortens it, or as
// a pattern that a shell completes.
func isGit(name []byte) bool {
	if len(name) < 2 || name[0] != '.' && name[0] != 'g' && name[0] != '[' {
		return false
	}
	if short, ok := bytes.CutPrefix(name, []byte("git~")); ok {
		return len(short) > 0 && len(bytes.Trim(short, "0123456789")) == 0
	}
	return string(name) == ".git" || bytes.ContainsAny(name, "*?[") && bytes.ContainsAny(name, "git") && matches(name, ".git")
}

// matches tells whether a shell may complete a pattern to a name. It goes back to the
// last star alone, so that a pattern costs no more than its length times the name's.
func matches(pattern []byte, name string) bool {
	star, taken := -1, 0
	p, n := 0, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, taken = p, n
			p++
			continue
		}
		width, ok := one(pattern[p:], name[n])
		switch {
		case ok:
			p, n = p+width, n+1
		case star >= 0:
			taken++
			p, n = star+1, taken
		default:
			return false
		}
	}
	return len(bytes.TrimLeft(pattern[p:], "*")) == 0
}

// one tells whether what a pattern begins with may stand for a character, and how long
// that is.
func one(pattern []byte, c byte) (width int, ok bool) {
	if len(pattern) == 0 {
		return 0, false
	}
	if pattern[0] != '[' {
		return 1, pattern[0] == '?' || pattern[0] == c
	}
	end := bytes.IndexByte(pattern[1:], ']')
	if end <= 0 {
		return 0, false
	}
	set := pattern[1 : 1+end]
	return end + 2, bytes.IndexByte(set, c) >= 0 || bytes.ContainsAny(set, "!^-:")
}

// withoutURL is a text without the URL of a server that it begins with.
func withoutURL(b []byte) []byte {
	i := bytes.Index(b, []byte("://"))
	if i < 0 {
		return b
	}
	scheme := bytes.TrimSpace(b[:i])
	switch string(scheme[bytes.LastIndexByte(scheme, '+')+1:]) {
	case "http", "https", "ws", "wss", "ssh", "git", "ftp", "ftps":
		if at := bytes.IndexAny(b, ",; \n\r\t"); at > i {
			return b[at:]
		}
		return nil
	}
	return b
}
