package declared

import (
	"strconv"
	"strings"
)

// maxFound bounds the findings of one tool.
const maxFound = 64

// overreaches holds what the leaves ask for against what tool and origin are for.
func overreaches(t *Tool, o *Origin) (out []Finding) {
	var p, server purpose
	read := false
	said := names(t.Leaves)
	budget := maxPatterns
	for i := range t.Leaves {
		l := &t.Leaves[i]
		if l.flag() || l.Named && said[l.Name] {
			continue
		}
		c, at := asked(l, &budget)
		if c == nil {
			continue
		}
		if !read {
			p, read = purposeOf(t), true
			server = purposeOfOrigin(o)
		}
		about, bad := c.unfounded(t, l, &p, &server, o.Known)
		if !bad {
			continue
		}
		if len(out) == maxFound {
			break
		}
		out = append(out, Finding{Kind: Overreach, Class: c.name, At: at, Path: l.Path, Why: why(c, l, about)})
	}
	return out
}

// names are those of leaves that have a schema.
func names(leaves []Leaf) map[string]bool {
	m := map[string]bool{}
	for i := range leaves {
		if !leaves[i].Named {
			m[leaves[i].Name] = true
		}
	}
	return m
}

// unfounded tells whether a tool has no reason to ask for what the leaf asks for,
// and what it is plainly about, if that is known.
func (c *class) unfounded(t *Tool, l *Leaf, p, server *purpose, known bool) (about string, bad bool) {
	own := c.name == AccessToken && ownKey(t, l, p.about != "")
	switch {
	case c.reasons.any(p.words):
		return "", false
	case p.about != "":
		return p.about, !(own && p.serve)
	case c.need == hard:
		return "", true
	case own, c.weak.any(p.words), !known, c.reasons.any(server.words):
		return "", false
	case server.about != "":
		return server.about, true
	}
	return "", c.need >= strict && !c.weak.any(server.words)
}

// ownKey tells whether a leaf asks for no more than the key of the service that the
// tool speaks to: none that has another's name, and not several. A tool that is
// about nothing known may name its service anywhere in its description.
func ownKey(t *Tool, l *Leaf, about bool) bool {
	for _, p := range l.Patterns {
		if takes(p.Text) == byClass[AccessToken] { // the form of a well-known service's
			return false
		}
	}
	var said map[string]bool
	words := wordsOf(l.Name)
	for _, d := range l.Descriptions {
		words = append(words, wordsOf(d.Text)...)
	}
	for _, w := range words {
		if !others[w] {
			continue
		}
		if about {
			return false
		}
		if said == nil {
			said = map[string]bool{}
			for _, w := range wordsOf(t.Description) {
				said[w] = true
			}
		}
		if !said[w] {
			return false
		}
	}
	return !strings.HasSuffix(strings.ToLower(l.Name), "s")
}

// others are services whose keys open more than one tool, and words for the keys of
// a person.
var others = wordSet(`github gitlab bitbucket aws azure gcp google openai anthropic claude stripe slack discord telegram npm pypi heroku
	cloud docker kubernetes vercel jira atlassian microsoft apple facebook meta paypal coinbase binance personal ssh other all every any each existing saved stored
	production root admin environment`)

// why is the reason in one sentence.
func why(c *class, l *Leaf, about string) string {
	var b strings.Builder
	if l.Name == "" {
		b.WriteString("an input without a name asks for ")
	} else {
		b.WriteString("the input " + quote(l.Name) + " asks for ")
	}
	b.WriteString(c.a)
	if about != "" {
		b.WriteString(", which a tool about " + about + " has no use for")
	} else {
		b.WriteString(", and nothing that the tool or its server says it is for has a use for that")
	}
	return b.String()
}

// quote is a name of somebody else's in a sentence of ours: short, in ASCII.
func quote(name string) string {
	const most = 64
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strconv.QuoteToASCII(name)
}
