package content

import (
	"encoding/xml"
	"strings"
)

// An element is an open element of a pom.xml that is or holds coordinates.
type element struct {
	name  string
	from  int
	group string
	art   string
	ver   string
}

// pomArtifacts are the elements that name what is fetched, with the group that stands
// for a missing one.
var pomArtifacts = map[string]string{"dependency": "", "plugin": "org.apache.maven.plugins", "parent": "", "extension": "", "annotationProcessorPath": "", "path": ""}

// pom judges a pom.xml. Entities and document types are not read.
func (c *check) pom() {
	if c.j.off[Dependency] {
		return
	}
	d := xml.NewDecoder(strings.NewReader(c.text))
	var stack []element
	var chars strings.Builder
	for {
		from := int(d.InputOffset())
		t, err := d.Token()
		if err != nil {
			if !c.w.Part && (d.InputOffset() < int64(len(c.text)) || len(stack) > 0) {
				c.all(Unread, whyUnread)
			}
			return
		}
		switch t := t.(type) {
		case xml.Directive:
			c.add(Unread, from, from+1, whyUnread)
		case xml.StartElement:
			if len(stack) > maxStack {
				c.all(Unread, whyLong)
				return
			}
			stack = append(stack, element{name: t.Name.Local, from: from})
			chars.Reset()
		case xml.CharData:
			chars.Write(t)
		case xml.EndElement:
			if len(stack) == 0 {
				continue
			}
			e := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			c.pomEnd(stack, e, strings.TrimSpace(chars.String()), int(d.InputOffset()))
			chars.Reset()
		}
	}
}

// pomEnd judges an element that ends; what it is of a coordinate goes to the one around.
func (c *check) pomEnd(stack []element, e element, value string, to int) {
	around := ""
	if len(stack) > 0 {
		up := &stack[len(stack)-1]
		around = up.name
		switch e.name {
		case "groupId":
			up.group = value
		case "artifactId":
			up.art = value
		case "version":
			up.ver = value
		}
	}
	group, ok := pomArtifacts[e.name]
	switch {
	case ok && (e.art != "" || e.group != ""):
		if e.group != "" {
			group = e.group
		}
		c.dependency("maven", e.from, to, group+":"+e.art, e.ver)
	case e.name == "url" && (around == "repository" || around == "pluginRepository" || around == "snapshotRepository" || around == "mirror" || c.w.Part && around == ""):
		c.registry(e.from, to, value)
	case e.name == "systemPath":
		c.add(Dependency, e.from, to, whyOutside)
	}
}

// gradle judges a build script of Gradle by the coordinates, repositories and scripts
// that stand in it as texts. It is code: what it puts together is not seen.
func (c *check) gradle() {
	if c.j.off[Dependency] && c.j.off[CI] {
		return
	}
	eachLine(c.text, func(l textLine) {
		s := l.text
		if s == "" || strings.HasPrefix(s, "//") {
			return
		}
		quotedIn(s, func(q string, from, _ int) {
			before := strings.TrimRight(s[max(0, from-64):from], " (\t=:")
			word := before[strings.LastIndexAny(before, " (\t.=,{")+1:]
			switch {
			case isURL(q) && (word == "url" || word == "uri" || word == "setUrl" || word == "from" || word == "maven" || word == "artifactUrls"):
				c.registry(l.from, l.to, q)
			case word == "id" || word == "kotlin":
				c.gradlePlugin(word, q, s, l)
			case word == "files" || word == "fileTree":
				c.local("maven", l.from, l.to, q, q)
			case coordinates(q) && !isURL(q):
				c.gradleCoordinates(q, l)
			}
		})
		c.gradleMap(s, l)
	})
	c.scripts()
}

// coordinates tells whether a text is group:artifact with or without a version.
func coordinates(q string) bool {
	f := strings.Split(q, ":")
	if len(f) < 2 || len(f) > 4 || strings.ContainsAny(q, " /\\") || !strings.Contains(f[0], ".") && len(f) < 3 {
		return false
	}
	return f[0] != "" && f[1] != ""
}

func (c *check) gradleCoordinates(q string, l textLine) {
	f := strings.Split(q, ":")
	version := ""
	if len(f) > 2 {
		version, _, _ = strings.Cut(f[2], "@")
	}
	c.dependency("maven", l.from, l.to, f[0]+":"+f[1], version)
}

// gradlePlugin judges id 'x' version 'y'; the plugins of Gradle itself have no dot.
func (c *check) gradlePlugin(word, q, s string, l textLine) {
	if word == "kotlin" {
		q = "org.jetbrains.kotlin." + q
	}
	if strings.Contains(q, ".") && (strings.Contains(s, "version") || !strings.HasPrefix(q, "org.gradle.")) {
		c.dependencyName("maven", l.from, l.to, q+":"+q+".gradle.plugin")
	}
}

// gradleMap judges group: 'a', name: 'b'.
func (c *check) gradleMap(s string, l textLine) {
	if !strings.Contains(s, "group") || !strings.Contains(s, "name") {
		return
	}
	m := map[string]string{}
	quotedIn(s, func(q string, from, _ int) {
		before := strings.TrimRight(s[max(0, from-64):from], " :=")
		m[before[strings.LastIndexAny(before, " (,")+1:]] = q
	})
	if m["group"] != "" && m["name"] != "" {
		c.dependency("maven", l.from, l.to, m["group"]+":"+m["name"], m["version"])
	}
}

// wrapper judges the properties of the wrappers of Gradle and Maven: where the program
// itself comes from.
func (c *check) wrapper() {
	eachLine(c.text, func(l textLine) {
		key, value, ok := strings.Cut(l.text, "=")
		if ok && (strings.HasSuffix(key, "Url") || strings.HasSuffix(key, "url")) {
			c.registry(l.from, l.to, strings.ReplaceAll(value, `\:`, ":"))
		}
	})
}
