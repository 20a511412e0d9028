// Command foldtable writes the table by which the inspector reads letters: for
// each character of Unicode what it stands for or looks like, in ASCII where it
// can be. See go:generate in internal/lookalike.
//
//	go run ./internal/foldtable -confusables confusables.txt >internal/lookalike/fold.txt
//
// confusables.txt is the file of that name of the Unicode security data
// (https://www.unicode.org/Public/security/, UTS #39), or the same mapping as
// ICU's spoof checker gives it. Normalization and names are those of
// golang.org/x/text. All of it is data of Unicode, Inc., under the Unicode
// License v3 (https://www.unicode.org/license.txt).
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// longest is how many characters one may become: a few ligatures that stand for
// whole phrases are left as they are, or a short text could grow tenfold.
const longest = 4

func main() {
	log.SetFlags(0)
	log.SetPrefix("foldtable: ")
	file := flag.String("confusables", "", "path of confusables.txt")
	flag.Parse()
	skeletons, err := read(*file)
	if err != nil {
		log.Fatal(err)
	}
	fold, look := map[string][]rune{}, map[string][]rune{}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if to, ok := plain(r); ok {
			fold[to] = append(fold[to], r)
		} else if to, ok := resembles(r, skeletons); ok {
			if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
				look[to] = append(look[to], r)
			} else {
				fold[to] = append(fold[to], r)
			}
		}
	}
	w := bufio.NewWriter(os.Stdout)
	fmt.Fprintf(w, "# Written by internal/foldtable. Data of Unicode, Inc., under the Unicode License v3; normalization of Unicode %s.\n", norm.Version)
	fmt.Fprintln(w, "# fold: what a character stands for. look: what a letter of another script looks like.")
	write(w, "fold", fold)
	write(w, "look", look)
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

// read takes single characters and what they are confused with from a file in
// the format of confusables.txt.
func read(path string) (map[rune]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := map[rune]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(strings.TrimPrefix(s.Text(), "\ufeff"), "#")
		fields := strings.Split(line, ";")
		if len(fields) < 2 {
			continue
		}
		from, err := points(fields[0])
		if err != nil || len(from) != 1 {
			continue
		}
		to, err := points(fields[1])
		if err != nil {
			return nil, err
		}
		m[from[0]] = string(to)
	}
	if len(m) < 1000 {
		return nil, fmt.Errorf("%s has %d mappings, which is too few", path, len(m))
	}
	return m, nil
}

func points(s string) (out []rune, err error) {
	for f := range strings.FieldsSeq(s) {
		v, err := strconv.ParseUint(f, 16, 32)
		if err != nil {
			return nil, err
		}
		out = append(out, rune(v))
	}
	return out, nil
}

func write(w *bufio.Writer, name string, m map[string][]rune) {
	fmt.Fprintln(w, name)
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		w.WriteString(strconv.QuoteToASCII(k))
		for i := 0; i < len(m[k]); {
			n := 1
			for i+n < len(m[k]) && m[k][i+n] == m[k][i]+rune(n) {
				n++
			}
			fmt.Fprintf(w, " %X", m[k][i])
			if n > 1 {
				fmt.Fprintf(w, "-%X", m[k][i+n-1])
			}
			i += n
		}
		w.WriteByte('\n')
	}
}
