package standin

import (
	"cmp"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

func (s *Server) reviewRoutes() {
	const mrs, one = "/projects/{id}/merge_requests", "/projects/{id}/merge_requests/{iid}"
	s.handle("GET "+mrs, listMergeRequests)
	s.handle("POST "+mrs, postMergeRequest)
	s.handle("GET "+one, onMergeRequest(func(c *call, m *mergeRequest) answer { return ok(c.mergeRequest(m)) }))
	s.handle("PUT "+one, onMergeRequest(putMergeRequest))
	s.handle("PUT "+one+"/merge", onMergeRequest(merge))
	s.handle("POST "+one+"/approve", onMergeRequest(approve))
	s.handle("GET "+one+"/notes", onMergeRequest(func(_ *call, m *mergeRequest) answer { return ok(append([]object{}, m.notes...)) }))
	s.handle("POST "+one+"/notes", onMergeRequest(func(c *call, m *mergeRequest) answer { return c.note(&m.notes, "MergeRequest") }))
	const issues, issue1 = "/projects/{id}/issues", "/projects/{id}/issues/{iid}"
	s.handle("GET "+issues, listIssues)
	s.handle("POST "+issues, postIssue)
	s.handle("GET "+issue1, onIssue(func(c *call, i *issue) answer { return ok(c.issue(i)) }))
	s.handle("PUT "+issue1, onIssue(putIssue))
	s.handle("DELETE "+issue1, onIssue(deleteIssue))
	s.handle("GET "+issue1+"/notes", onIssue(func(_ *call, i *issue) answer { return ok(append([]object{}, i.notes...)) }))
	s.handle("POST "+issue1+"/notes", onIssue(func(c *call, i *issue) answer { return c.note(&i.notes, "Issue") }))
}

func (c *call) mergeRequest(m *mergeRequest) object {
	at := any(nil)
	if m.state == "merged" {
		at = m.at
	}
	return object{"id": 1000 + m.iid, "iid": m.iid, "project_id": m.targetProject, "title": m.title, "description": m.description, "state": m.state,
		"author": me, "assignees": []object{}, "reviewers": []object{}, "source_branch": m.source, "target_branch": m.target, "sha": m.sha,
		"web_url": c.s.web + "/" + c.p.path + "/-/merge_requests/" + strconv.Itoa(m.iid), "created_at": m.at, "updated_at": m.at, "merged_at": at,
		"closed_at": nil, "merge_commit_sha": nil, "draft": false, "labels": append([]string{}, m.labels...), "detailed_merge_status": "mergeable"}
}

func onMergeRequest(f func(*call, *mergeRequest) answer) func(*call) answer {
	return func(c *call) answer {
		for _, m := range c.p.requests {
			if strconv.Itoa(m.iid) == c.param("iid") {
				return f(c, m)
			}
		}
		return missing
	}
}

func listMergeRequests(c *call) answer {
	list := []object{}
	for _, m := range c.p.requests {
		if b := c.query("source_branch"); b == "" || b == m.source {
			list = append(list, c.mergeRequest(m))
		}
	}
	return ok(list)
}

func postMergeRequest(c *call) answer {
	var in struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Source      string `json:"source_branch"`
		Target      string `json:"target_branch"`
		Project     string `json:"target_project_id"`
		Labels      string `json:"labels"`
	}
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	to := c.p
	if in.Project != "" {
		if to = c.s.project(in.Project); to == nil {
			return refuse(http.StatusNotFound, "404 Project Not Found")
		}
	}
	source := c.p.branches[in.Source]
	if source == "" || to.branches[in.Target] == "" || in.Source == in.Target && to == c.p {
		return refuse(http.StatusConflict, "source_branch or target_branch does not exist")
	}
	m := &mergeRequest{iid: len(to.requests) + 1, title: in.Title, description: in.Description, source: in.Source, target: in.Target,
		targetProject: to.id, state: "opened", at: c.s.tick(), sha: source}
	if in.Labels != "" {
		m.labels = strings.Split(in.Labels, ",")
	}
	to.requests = append(to.requests, m)
	return created(c.mergeRequest(m))
}

func putMergeRequest(c *call, m *mergeRequest) answer {
	var in struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Target      string `json:"target_branch"`
		Event       string `json:"state_event"`
	}
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	m.title, m.description, m.target = or(in.Title, m.title), or(in.Description, m.description), or(in.Target, m.target)
	m.state = cmp.Or(map[string]string{"close": "closed", "reopen": "opened"}[in.Event], m.state)
	return ok(c.mergeRequest(m))
}

// merge gives the target branch the tree of the source.
func merge(c *call, m *mergeRequest) answer {
	from := c.p.commits[c.p.branches[m.source]]
	if m.state != "opened" || from == nil {
		return refuse(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	}
	c.s.commit(c.p, m.target, "Merge branch '"+m.source+"' into '"+m.target+"'", maps.Clone(from.files))
	m.state, m.at = "merged", c.s.tick()
	return ok(c.mergeRequest(m))
}

func approve(c *call, m *mergeRequest) answer {
	m.approved = true
	return created(object{"approved": true, "user_has_approved": true, "user_can_approve": false, "approved_by": []object{{"user": me}}})
}

func (c *call) note(notes *[]object, on string) answer {
	var in struct {
		Body string `json:"body"`
	}
	if err := c.in(&in); err != nil || in.Body == "" {
		return refuse(http.StatusBadRequest, "body is missing")
	}
	n := object{"id": c.s.id(), "type": nil, "body": in.Body, "author": me, "created_at": c.s.tick(), "system": false, "noteable_type": on}
	*notes = append(*notes, n)
	return created(n)
}

func (c *call) issue(i *issue) object {
	return object{"id": 2000 + i.iid, "iid": i.iid, "project_id": c.p.id, "title": i.title, "description": i.description, "state": i.state,
		"author": me, "assignees": []object{}, "labels": append([]string{}, i.labels...), "milestone": nil, "created_at": i.at, "updated_at": i.at,
		"closed_at": nil, "confidential": i.confidential, "web_url": c.s.web + "/" + c.p.path + "/-/issues/" + strconv.Itoa(i.iid)}
}

func onIssue(f func(*call, *issue) answer) func(*call) answer {
	return func(c *call) answer {
		for _, i := range c.p.issues {
			if strconv.Itoa(i.iid) == c.param("iid") {
				return f(c, i)
			}
		}
		return missing
	}
}

func listIssues(c *call) answer {
	list := []object{}
	for _, i := range c.p.issues {
		list = append(list, c.issue(i))
	}
	return ok(list)
}

// issueIn is what is said of an issue. Labels come as a text or as a list.
type issueIn struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Labels      any    `json:"labels"`
	Event       string `json:"state_event"`
}

func (in issueIn) labels() (out []string) {
	switch l := in.Labels.(type) {
	case string:
		out = strings.Split(l, ",")
	case []any:
		for _, x := range l {
			s, _ := x.(string)
			out = append(out, s)
		}
	}
	return out
}

func postIssue(c *call) answer {
	var in issueIn
	if err := c.in(&in); err != nil || in.Title == "" {
		return refuse(http.StatusBadRequest, "title is missing")
	}
	i := &issue{iid: len(c.p.issues) + 1, title: in.Title, description: in.Description, state: "opened", at: c.s.tick(), labels: in.labels()}
	c.p.issues = append(c.p.issues, i)
	return created(c.issue(i))
}

func putIssue(c *call, i *issue) answer {
	var in issueIn
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	i.title, i.description = or(in.Title, i.title), or(in.Description, i.description)
	i.state = cmp.Or(map[string]string{"close": "closed", "reopen": "opened"}[in.Event], i.state)
	if in.Labels != nil {
		i.labels = in.labels()
	}
	return ok(c.issue(i))
}

func deleteIssue(c *call, i *issue) answer {
	var kept []*issue
	for _, x := range c.p.issues {
		if x != i {
			kept = append(kept, x)
		}
	}
	c.p.issues = kept
	return gone
}
