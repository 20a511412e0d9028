package standin

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A collection is a plain list of a project: what is posted is kept as it came, and
// found again by one of its members.
type collection struct {
	path string // under /projects/{id}
	key  string // member that names one; a number is given where it is "id"
	list func(p *project) *[]object
	fill func(c *call, o object) // members that GitLab adds; nil: none
}

func (s *Server) collections() {
	for _, k := range []collection{
		{"/variables", "key", func(p *project) *[]object { return &p.variables }, defaults(object{"variable_type": "env_var", "protected": false, "masked": false, "environment_scope": "*"})},
		{"/hooks", "id", func(p *project) *[]object { return &p.hooks }, nil},
		{"/pipeline_schedules", "id", func(p *project) *[]object { return &p.schedules }, timed(object{"active": true})},
		{"/triggers", "id", func(p *project) *[]object { return &p.triggers }, func(c *call, o object) { o["token"] = "glptt-" + digest(fmt.Sprint(o))[:20] }},
		{"/releases", "tag_name", func(p *project) *[]object { return &p.releases }, release},
		{"/wikis", "slug", func(p *project) *[]object { return &p.wiki }, wikiPage},
		{"/labels", "name", func(p *project) *[]object { return &p.labels }, defaults(object{"text_color": "#FFFFFF", "description": nil, "description_html": nil})},
	} {
		s.collection(k)
	}
}

func defaults(d object) func(*call, object) {
	return func(_ *call, o object) {
		for k, v := range d {
			if _, said := o[k]; !said {
				o[k] = v
			}
		}
	}
}

func timed(d object) func(*call, object) {
	return func(c *call, o object) {
		defaults(d)(c, o)
		o["created_at"], o["updated_at"] = c.s.tick(), c.s.tick()
	}
}

// release makes the tag where it is not there, as GitLab does.
func release(c *call, o object) {
	tag, ref := text(o, "tag_name"), text(o, "ref")
	if at := c.p.resolve(ref); at != nil && ref != "" && c.p.tags[tag] == "" {
		c.p.tags[tag] = at.id
	}
	delete(o, "assets") // given back in another form, which nobody here reads
	o["created_at"], o["released_at"] = c.s.tick(), c.s.tick()
}

func wikiPage(_ *call, o object) {
	defaults(object{"slug": strings.ReplaceAll(text(o, "title"), " ", "-"), "format": "markdown"})(nil, o)
}

func text(o object, name string) string {
	s, _ := o[name].(string)
	return s
}

// named is the place of the object that has the name; -1 if none has.
func (k collection) named(list []object, name string) int {
	return slices.IndexFunc(list, func(o object) bool { return fmt.Sprint(o[k.key]) == name })
}

func (s *Server) collection(k collection) {
	all, one := "/projects/{id}"+k.path, "/projects/{id}"+k.path+"/{name}"
	s.handle("GET "+all, func(c *call) answer { return ok(slices.Concat([]object{}, *k.list(c.p))) })
	s.handle("POST "+all, func(c *call) answer {
		o := object{}
		if err := c.in(&o); err != nil {
			return refuse(http.StatusBadRequest, "%v", err)
		}
		if k.key == "id" {
			o["id"] = c.s.id()
		} else if k.named(*k.list(c.p), fmt.Sprint(o[k.key])) >= 0 {
			return refuse(http.StatusBadRequest, "%s has already been taken", k.key)
		}
		if k.fill != nil {
			k.fill(c, o)
		}
		*k.list(c.p) = append(*k.list(c.p), o)
		return created(o)
	})
	s.one(k, one)
}

// find is the list, and the place of what the path names; -1 if there is none.
func (k collection) find(c *call) (list *[]object, i int) {
	list = k.list(c.p)
	return list, k.named(*list, c.param("name"))
}

// one adds what can be done with one of a collection.
func (s *Server) one(k collection, one string) {
	s.handle("GET "+one, func(c *call) answer {
		if list, i := k.find(c); i >= 0 {
			return ok((*list)[i])
		}
		return missing
	})
	s.handle("PUT "+one, func(c *call) answer {
		list, i := k.find(c)
		if i < 0 {
			return missing
		}
		o := maps.Clone((*list)[i])
		if err := c.in(&o); err != nil {
			return refuse(http.StatusBadRequest, "%v", err)
		}
		(*list)[i] = o
		return ok(o)
	})
	s.handle("DELETE "+one, func(c *call) answer {
		list, i := k.find(c)
		if i < 0 {
			return missing
		}
		was := (*list)[i]
		*list = slices.Delete(slices.Clone(*list), i, i+1)
		if k.key == "tag_name" {
			return ok(was) // releases are the ones that are given back
		}
		return gone
	})
}

func (s *Server) projectRoutes() {
	s.handle("GET /user", func(*call) answer { return ok(me) })
	s.handle("GET /version", func(*call) answer { return ok(object{"version": "19.2.0-ee", "revision": "standin"}) })
	s.handle("GET /projects", listProjects)
	s.handle("POST /projects", postProject)
	s.handle("GET /projects/{id}", func(c *call) answer { return ok(c.s.shown(c.p)) })
	s.handle("PUT /projects/{id}", putProject)
	s.handle("POST /projects/{id}/fork", fork)
	s.handle("GET /projects/{id}/members", func(c *call) answer { return ok(c.p.members) })
	s.handle("GET /projects/{id}/members/all", func(c *call) answer { return ok(c.p.members) })
	s.handle("GET /projects/{id}/protected_branches", listProtected)
	s.handle("POST /projects/{id}/protected_branches", protect)
	s.handle("DELETE /projects/{id}/protected_branches/{name}", unprotect)
	s.handle("POST /projects/{id}/uploads", upload)
	s.handle("GET /projects/{id}/search", search)
	s.handle("GET /groups/{group}/variables", groupVariables)
}

var me = object{"id": 2, "username": "maintainer-bot", "name": "Maintainer Bot", "state": "active", "avatar_url": nil,
	"web_url": "http://gitlab.example/maintainer-bot", "created_at": "2026-01-01T00:00:00Z", "bio": "", "location": "", "public_email": "", "website_url": "", "organization": "", "job_title": "",
	"last_sign_in_at": nil, "confirmed_at": nil, "last_activity_on": nil,
	"email": "bot@gitlab.example", "two_factor_enabled": true}

// shown is a project as the API gives it.
func (s *Server) shown(p *project) object {
	space, name, _ := strings.Cut(p.path, "/")
	o := object{"id": p.id, "name": name, "path": name, "path_with_namespace": p.path, "description": p.description, "visibility": p.visibility,
		"default_branch": p.deflt, "archived": p.archived, "web_url": s.web + "/" + p.path, "created_at": "2026-01-01T00:00:00Z",
		"last_activity_at": "2026-11-02T09:00:00Z", "namespace": object{"id": 1, "name": space, "path": space, "kind": "group", "full_path": space}}
	if p.from != "" {
		o["forked_from_project"] = object{"name": name, "path_with_namespace": p.from, "web_url": s.web + "/" + p.from}
	}
	return o
}

func listProjects(c *call) answer {
	list := []object{}
	for _, p := range c.s.projects {
		if strings.Contains(p.path, c.query("search")) {
			list = append(list, c.s.shown(p))
		}
	}
	return ok(list)
}

func postProject(c *call) answer {
	var in struct {
		Name        string `json:"name"`
		Visibility  string `json:"visibility"`
		Description string `json:"description"`
	}
	if err := c.in(&in); err != nil || in.Name == "" {
		return refuse(http.StatusBadRequest, "name is missing")
	}
	p := c.s.add("maintainer-bot/"+strings.ToLower(in.Name), or(in.Visibility, "private"), map[string]file{})
	p.description = in.Description
	return created(c.s.shown(p))
}

func putProject(c *call) answer {
	var in struct {
		Description *string `json:"description"`
		Visibility  string  `json:"visibility"`
		Default     string  `json:"default_branch"`
		Archived    *bool   `json:"archived"`
	}
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	if _, there := c.p.branches[in.Default]; in.Default != "" && !there {
		return refuse(http.StatusBadRequest, "Could not change HEAD: branch '%s' does not exist", in.Default)
	}
	c.p.visibility, c.p.deflt = or(in.Visibility, c.p.visibility), or(in.Default, c.p.deflt)
	if in.Description != nil {
		c.p.description = *in.Description
	}
	if in.Archived != nil {
		c.p.archived = *in.Archived
	}
	return ok(c.s.shown(c.p))
}

func fork(c *call) answer {
	_, name, _ := strings.Cut(c.p.path, "/")
	path := or(c.query("namespace"), "maintainer-bot") + "/" + name
	if c.s.project(path) != nil {
		return refuse(http.StatusConflict, "Project already exists")
	}
	p := c.s.add(path, "public", c.p.commits[c.p.branches[c.p.deflt]].files)
	p.from = c.p.path
	return created(c.s.shown(p))
}

func (p *project) protection(name string) object {
	level := []object{{"access_level": 40, "access_level_description": "Maintainers"}}
	return object{"name": name, "push_access_levels": level, "merge_access_levels": level, "allow_force_push": false}
}

func listProtected(c *call) answer {
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(c.p.protected)) {
		list = append(list, c.p.protection(name))
	}
	return ok(list)
}

func protect(c *call) answer {
	var in struct {
		Name string `json:"name"`
	}
	if err := c.in(&in); err != nil || in.Name == "" {
		return refuse(http.StatusBadRequest, "name is missing")
	}
	c.p.protected[in.Name] = true
	return created(c.p.protection(in.Name))
}

func unprotect(c *call) answer {
	if !c.p.protected[c.param("name")] {
		return missing
	}
	delete(c.p.protected, c.param("name"))
	return gone
}

// upload keeps a file that came as a form.
func upload(c *call) answer {
	f, h, err := c.r.FormFile("file")
	if err != nil {
		return refuse(http.StatusBadRequest, "file is missing")
	}
	_ = f.Close()
	c.p.uploads = append(c.p.uploads, object{"name": h.Filename, "size": h.Size})
	path := "/uploads/" + digest(h.Filename)[:32] + "/" + h.Filename
	return created(object{"id": c.s.id(), "alt": h.Filename, "url": path, "full_path": "/-/project/" + strconv.Itoa(c.p.id) + path, "markdown": "[" + h.Filename + "](" + path + ")"})
}

func search(c *call) answer {
	list := []object{}
	at := c.p.commits[c.p.branches[c.p.deflt]]
	for _, name := range slices.Sorted(maps.Keys(at.files)) {
		if t := at.files[name].content; strings.Contains(t, c.query("search")) {
			list = append(list, object{"basename": name, "data": t, "path": name, "filename": name, "id": nil, "ref": c.p.deflt, "startline": 1, "project_id": c.p.id})
		}
	}
	return ok(list)
}

func groupVariables(c *call) answer {
	for _, g := range c.s.groups {
		if id := c.param("group"); strconv.Itoa(g.id) == id || g.path == id {
			return ok(g.variables)
		}
	}
	return missing
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
