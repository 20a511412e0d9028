package content

import (
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A kind is what reads a file.
type kind uint8

const (
	plain kind = iota
	npmManifest
	npmLock
	yarnLock
	pnpmLock
	pnpmWorkspace
	requirements
	pyproject
	pipfile
	pipfileLock
	setupCfg
	setupPy
	tomlLock // poetry.lock, uv.lock, pdm.lock, Cargo.lock
	goMod
	goWork
	goSum
	cargoManifest
	gemfile
	gemfileLock
	composerManifest
	composerLock
	pom
	gradle
	wrapper
	foreign
	partly // a manifest where it says certain words: see partWords
	builds // code that a package manager runs
	dockerfile
	compose
	gitlabCI
	workflow
	action
	otherCI
	jenkins
	makefile
	shell
	npmrc
	yarnrc
	pipConf
	gitmodules
	gitattributes
	settings
	instructions
	dotenv
)

// fold is a path as the least careful of its readers takes it: decoded up to three
// times, compatible forms of letters, no letters that file systems overlook, small
// letters, slashes, no blanks or dots at the end of a name, no stream, no dot segments.
func fold(p string) string {
	if folded(p) {
		return p
	}
	for range 3 {
		d := unpercent(p)
		if d == p {
			break
		}
		p = d
	}
	p = unwrapped(p)
	if !isASCII(p) {
		p = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == 0x034f {
				return -1
			}
			return r
		}, norm.NFKC.String(p))
	}
	if at := 1 + strings.LastIndexAny(p, `/\`); exactNames[strings.TrimRight(p[at:], ". ")] != "" {
		p = p[:at] + exactNames[strings.TrimRight(p[at:], ". ")]
	}
	p = strings.ReplaceAll(strings.ToLower(p), "\\", "/")
	if i := strings.IndexByte(p, 0); i >= 0 {
		p = p[:i]
	}
	if strings.ContainsAny(p, ": ") || strings.Contains(p, "./") || strings.HasSuffix(p, ".") {
		segs := strings.Split(p, "/")
		for i, s := range segs {
			if j := strings.IndexByte(s, ':'); j > 1 {
				s = s[:j]
			}
			if t := strings.TrimRight(s, ". "); t != "" {
				s = t
			}
			segs[i] = strings.TrimLeft(s, " ")
		}
		p = strings.Join(segs, "/")
	}
	if p == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean("/"+p), "/")
}

// unwrapped takes off quotes, and what makes a URL of a path.
func unwrapped(p string) string {
	p = strings.Trim(p, "\"'`")
	p = strings.TrimPrefix(p, "file://")
	if i := strings.Index(p, "://"); i >= 0 {
		if p = p[i+3:]; strings.ContainsAny(p, "?#") {
			p = p[:strings.IndexAny(p, "?#")]
		}
	}
	return p
}

// folded tells whether a path is as fold would make it: most are.
func folded(p string) bool {
	if p == "" || p[0] == '/' || p[len(p)-1] == '/' || p[len(p)-1] == '.' {
		return false
	}
	for i := range len(p) {
		switch c := p[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
		case c == '.':
			if p[i+1] == '/' || p[i+1] == '.' {
				return false
			}
		case c == '/':
			if p[i+1] == '/' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// unpercent decodes what is percent-encoded and leaves the rest.
func unpercent(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if h, l := hexDigit(s[i+1]), hexDigit(s[i+2]); h >= 0 && l >= 0 {
				b = append(b, byte(h<<4|l))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// kindOf tells what reads a file by its folded path.
func kindOf(p string) kind {
	dir, base := path.Split(p)
	if k, ok := baseKinds[base]; ok {
		return k
	}
	if strings.HasPrefix(dir, ".") || strings.Contains(dir, "/.") || strings.HasPrefix(base, "action.y") {
		if k := folderKind("/"+dir, base); k != plain {
			return k
		}
	}
	if len(dir) > 1 {
		if k, ok := lastFolders[path.Base(dir)]; ok {
			return k
		}
	}
	if k := patternKind(dir, base); k != plain {
		return k
	}
	if k, ok := extensionKinds[path.Ext(base)]; ok {
		return k
	}
	return plain
}

// patternKind tells the kind of a file by parts of its name.
func patternKind(dir, base string) kind {
	ext := path.Ext(base)
	yaml := ext == ".yml" || ext == ".yaml"
	switch {
	case strings.HasPrefix(base, "makefile."):
		return makefile
	case (ext == ".txt" || ext == ".in") && (dir == "requirements/" || strings.HasSuffix(dir, "/requirements/")):
		return requirements
	case strings.HasPrefix(base, "dockerfile.") || strings.HasPrefix(base, "dockerfile-") || strings.HasPrefix(base, "dockerfile_") || strings.HasPrefix(base, "containerfile.") || ext == ".dockerfile":
		return dockerfile
	case strings.HasPrefix(base, ".env.") || ext == ".env":
		return dotenv
	case strings.HasPrefix(base, "requirements") && (ext == ".txt" || ext == ".in"), strings.HasPrefix(base, "constraints") && ext == ".txt",
		strings.HasSuffix(base, "requirements.txt"), strings.HasSuffix(base, "requirements.in"):
		return requirements
	case strings.HasSuffix(base, ".gitlab-ci.yml"), strings.HasSuffix(base, ".gitlab-ci.yaml"):
		return gitlabCI
	case yaml && strings.HasPrefix(base, "docker-compose."):
		return compose
	case strings.HasPrefix(base, "jenkinsfile"):
		return jenkins
	case strings.HasPrefix(base, ".pnp.") || strings.HasPrefix(base, ".pnpmfile.") || strings.HasPrefix(base, ".yarnrc.") || strings.HasPrefix(base, ".lintstagedrc") || strings.HasPrefix(base, ".renovaterc"):
		return settings
	case yaml && (strings.HasPrefix(base, "azure-pipelines") || strings.HasPrefix(base, "cloudbuild") || strings.HasPrefix(base, "buildspec") || strings.HasSuffix(base, ".gocd.yaml")):
		return otherCI
	case strings.HasSuffix(base, ".gradle.kts"):
		return gradle
	case strings.HasSuffix(base, ".tf.json"):
		return partly
	}
	if ext == ".md" {
		for _, e := range []string{".instructions.md", ".prompt.md", ".chatmode.md", ".agent.md"} {
			if strings.HasSuffix(base, e) {
				return instructions
			}
		}
	}
	return plain
}

// folderKind tells the kind of a file in a folder whose name begins with a dot.
func folderKind(dir, base string) kind {
	yaml := strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml")
	switch {
	case !strings.Contains(dir, "/."):
		if base == "action.yml" || base == "action.yaml" {
			return action
		}
		return plain
	case strings.HasSuffix(dir, "/.github/workflows/") && yaml:
		return workflow
	case base == "action.yml" || base == "action.yaml":
		return action
	case strings.Contains(dir, "/.gitlab/") && yaml && !strings.HasSuffix(dir, "_templates/"):
		return gitlabCI
	case strings.HasSuffix(dir, "/.vscode/") && (base == "tasks.json" || base == "launch.json" || base == "settings.json" || base == "mcp.json"):
		return settings
	}
	for from, before := 1, 1; from < len(dir); {
		to := from + strings.IndexByte(dir[from:], '/')
		if k, ok := folderKinds[dir[from:to]]; ok {
			return k
		}
		if k, ok := folderKinds[dir[before:to]]; ok {
			return k
		}
		before, from = from, to+1
	}
	return plain
}

// weakKind tells what reads a file where it is not sure that a text is a path.
func (j *Judge) weakKind(t string) kind {
	p := fold(t)
	if strings.HasSuffix(p, exact) {
		return plain
	}
	return j.kindOf(p)
}
