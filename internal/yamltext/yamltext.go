// Package yamltext bounds YAML texts before a parser sees them, so that what
// people write in our files means what it seems to mean.
package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// ErrText is every error of this package. Its text names a line, and repeats
// nothing of the file.
var ErrText = errors.New("not the plain YAML that is taken here")

// Flow is how deep [ and { may be nested in files of ours, if they do not say more.
const Flow = 4

// Clean drops a byte order mark and reads CRLF as LF. It refuses what is not UTF-8, and
// characters that end a line, move or hide what follows in one program and not in
// another: what a person sees and what is read would be two texts.
func Clean(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrText)
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if i := bytes.IndexFunc(text, astray); i >= 0 {
		return nil, fmt.Errorf("%w: line %d: a character that ends, moves or hides a line for some programs only: a carriage return alone, a form feed, U+0085, U+2028, a mark of direction", ErrText, 1+bytes.Count(text[:i], []byte{'\n'}))
	}
	return text, nil
}

// astray tells whether a character means one thing to readers of YAML and another to
// editors: control characters, line ends of Unicode, marks that turn the direction of
// writing, and a byte order mark inside.
func astray(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', r == '\ufeff':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// Plain refuses what makes a YAML text mean more than it seems to: anchors, aliases,
// merges, tags, directives, complex keys and further documents. It bounds nesting,
// which the parser does not: a line of nothing but dashes would take all memory.
func Plain(text []byte) error { return PlainTo(text, Flow) }

// PlainTo is Plain with [ and { nested as deep as deepest.
func PlainTo(text []byte, deepest int) error {
	flow, content := 0, false
	line, dashes, colons := 0, 0, 0
	for _, t := range lexer.Tokenize(string(text)) {
		bad := func(what string) error { return fmt.Errorf("%w: line %d: %s", ErrText, t.Position.Line, what) }
		if t.Position.Line != line {
			line, dashes, colons = t.Position.Line, 0, 0
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType, token.DirectiveType, token.MappingKeyType:
			return bad("anchors, aliases, merges, tags, directives and complex keys are not taken")
		case token.DocumentHeaderType, token.DocumentEndType:
			if content || t.Type == token.DocumentEndType {
				return bad("one document only")
			}
		case token.CommentType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			dashes++
		case token.MappingValueType:
			if flow == 0 {
				colons++
			}
		}
		if flow > deepest || dashes > 1 || colons > 1 {
			return bad("nested too deep")
		}
		content = true
	}
	return nil
}

// Decode reads a plain text into v, strictly: unknown and repeated keys and values
// of other types are errors, which name the line, the key of ours and what is wrong.
func Decode(text []byte, v any) error {
	if err := Plain(text); err != nil {
		return err
	}
	body, err := Body(text)
	if err != nil {
		return err
	}
	if body != nil {
		if err := misread(body, reflect.TypeOf(v), ""); err != nil {
			return err
		}
	}
	if err := yaml.UnmarshalWithOptions(text, v, yaml.Strict()); err != nil {
		return Placed(err, "")
	}
	return nil
}

// Placed keeps the place of a YAML error and drops its text, which quotes the file.
// what says what is wrong; empty: what can be told of the error.
func Placed(err error, what string) error {
	switch {
	case what != "":
	case errors.As(err, new(*yaml.UnknownFieldError)):
		what = "unknown key"
	case errors.As(err, new(*yaml.DuplicateKeyError)):
		what = "repeated key"
	case errors.Is(err, errWord), errors.As(err, new(*yaml.TypeError)):
		what = "a value has another type than its key wants"
	default:
		what = "not valid YAML of this format"
	}
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		return fmt.Errorf("%w: line %d: %s", ErrText, at.GetToken().Position.Line, what)
	}
	return fmt.Errorf("%w: %s", ErrText, what)
}

// A Word is a string that YAML reads as one: 42, true and null are something else,
// and what they would become is for the file to say, in quotes. One without a value is
// as if it were not there.
type Word string

var errWord = errors.New("not a string; put it in quotes")

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (w *Word) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	s, ok := v.(string)
	if !ok {
		return errWord
	}
	*w = Word(s)
	return nil
}
