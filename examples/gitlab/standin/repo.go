package standin

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
)

func (s *Server) repoRoutes() {
	const repo = "/projects/{id}/repository"
	s.handle("GET "+repo+"/files/{path}", getFile)
	s.handle("POST "+repo+"/files/{path}", func(c *call) answer { return putFile(c, "create") })
	s.handle("PUT "+repo+"/files/{path}", func(c *call) answer { return putFile(c, "update") })
	s.handle("DELETE "+repo+"/files/{path}", func(c *call) answer { return putFile(c, "delete") })
	s.handle("GET "+repo+"/tree", getTree)
	s.handle("GET "+repo+"/commits", listCommits)
	s.handle("GET "+repo+"/commits/{sha}", getCommit)
	s.handle("POST "+repo+"/commits", postCommit)
	s.handle("GET "+repo+"/branches", listBranches)
	s.handle("POST "+repo+"/branches", postBranch)
	s.handle("GET "+repo+"/branches/{branch}", getBranch)
	s.handle("DELETE "+repo+"/branches/{branch}", deleteBranch)
	s.handle("GET "+repo+"/tags", listTags)
	s.handle("POST "+repo+"/tags", postTag)
	s.handle("DELETE "+repo+"/tags/{tag}", deleteTag)
	s.handle("GET "+repo+"/compare", compare)
}

// leaves tells whether a path has a segment that goes up: the files API refuses
// those.
func leaves(p string) bool { return slices.Contains(strings.Split(p, "/"), "..") }

var errPath = errors.New("path cannot include directory traversal")

// cleaned is what a path of a commit means: it is resolved, and what leaves the
// repository is refused.
func cleaned(p string) (string, error) {
	if p == "" || strings.Contains(p, "\x00") {
		return "", errors.New("you must provide a file path")
	}
	p = path.Clean(p)
	if p == "." || p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") || strings.HasPrefix(p, ".git/") {
		return "", errPath
	}
	return p, nil
}

func getFile(c *call) answer {
	name := c.param("path")
	if leaves(name) {
		return refuse(http.StatusBadRequest, "file_path should be a valid file path")
	}
	at := c.p.resolve(c.query("ref"))
	if at == nil {
		return refuse(http.StatusNotFound, "404 Commit Not Found")
	}
	f, ok1 := at.files[strings.TrimPrefix(path.Clean(name), "./")]
	if !ok1 {
		return refuse(http.StatusNotFound, "404 File Not Found")
	}
	return ok(object{
		"file_name": path.Base(name), "file_path": name, "size": len(f.content), "encoding": "base64",
		"content": base64.StdEncoding.EncodeToString([]byte(f.content)), "content_sha256": digest(f.content),
		"ref": c.query("ref"), "blob_id": digest(f.content)[:40], "commit_id": at.id, "last_commit_id": at.id, "execute_filemode": f.exec,
	})
}

// An action is one of a commit.
type action struct {
	Action   string  `json:"action"`
	FilePath string  `json:"file_path"`
	Previous string  `json:"previous_path"`
	Content  *string `json:"content"`
	Encoding string  `json:"encoding"`
	Exec     bool    `json:"execute_filemode"`
}

func putFile(c *call, what string) answer {
	var in struct {
		action
		Branch  string `json:"branch"`
		Message string `json:"commit_message"`
	}
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	if leaves(c.param("path")) {
		return refuse(http.StatusBadRequest, "file_path should be a valid file path")
	}
	in.Action, in.FilePath = what, c.param("path")
	if _, err := c.change(in.Branch, "", in.Message, []action{in.action}); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	return created(object{"file_path": in.FilePath, "branch": in.Branch})
}

func postCommit(c *call) answer {
	var in struct {
		Branch  string   `json:"branch"`
		Start   string   `json:"start_branch"`
		Message string   `json:"commit_message"`
		Actions []action `json:"actions"`
	}
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	k, err := c.change(in.Branch, in.Start, in.Message, in.Actions)
	if err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	return created(c.commit(k))
}

// change commits actions. A branch that is not there is made where a start is
// given, and in no other case.
func (c *call) change(branch, start, message string, actions []action) (*commit, error) {
	head := c.p.commits[c.p.branches[branch]]
	if head == nil {
		if head = c.p.resolve(start); start == "" || head == nil {
			return nil, errors.New("you can only create or edit files when you are on a branch")
		}
		if !validBranch(branch) {
			return nil, errors.New("branch name is invalid")
		}
		c.p.branches[branch] = head.id
	}
	files := maps.Clone(head.files)
	for _, a := range actions {
		if err := a.apply(files); err != nil {
			return nil, err
		}
	}
	return c.s.commit(c.p, branch, message, files), nil
}

func (a action) apply(files map[string]file) error {
	name, err := cleaned(a.FilePath)
	if err != nil {
		return err
	}
	old, there := files[name]
	var content string
	if a.Content != nil {
		content = *a.Content
	}
	if a.Encoding == "base64" {
		raw, err := base64.StdEncoding.DecodeString(content)
		if err != nil {
			return errors.New("invalid base64")
		}
		content = string(raw)
	}
	switch {
	case a.Action == "create" && there:
		return errors.New("a file with this name already exists")
	case a.Action == "create":
		files[name] = file{content: content}
	case a.Action == "move":
		prev, err := cleaned(a.Previous)
		if err != nil {
			return err
		}
		moved, ok := files[prev]
		if !ok || there {
			return errors.New("a file with this name doesn't exist")
		}
		if a.Content != nil {
			moved.content = content
		}
		delete(files, prev)
		files[name] = moved
	case !there:
		return errors.New("a file with this name doesn't exist")
	case a.Action == "update":
		files[name] = file{content: content, exec: old.exec}
	case a.Action == "delete":
		delete(files, name)
	case a.Action == "chmod":
		files[name] = file{content: old.content, exec: a.Exec}
	default:
		return errors.New("actions[0][action] does not have a valid value")
	}
	return nil
}

func getTree(c *call) answer {
	at := c.p.resolve(c.query("ref"))
	if at == nil {
		return refuse(http.StatusNotFound, "404 Tree Not Found")
	}
	under := strings.Trim(c.query("path"), "/")
	seen, list := map[string]bool{}, []object{}
	for _, name := range slices.Sorted(maps.Keys(at.files)) {
		rest, in := strings.CutPrefix("/"+name, strings.TrimSuffix("/"+under, "/")+"/")
		if !in {
			continue
		}
		first, _, deep := strings.Cut(rest, "/")
		item := object{"id": digest(name)[:40], "name": path.Base(name), "type": "blob", "path": name, "mode": "100644"}
		if deep && c.query("recursive") != "true" {
			if seen[first] {
				continue
			}
			seen[first] = true
			item = object{"id": digest(first)[:40], "name": first, "type": "tree", "path": path.Join(under, first), "mode": "040000"}
		}
		list = append(list, item)
	}
	return ok(list)
}

// commit is a commit as the API gives it.
func (c *call) commit(k *commit) object {
	title, _, _ := strings.Cut(k.message, "\n")
	return object{
		"id": k.id, "short_id": k.id[:8], "title": title, "message": k.message, "parent_ids": slices.Concat([]string{}, k.parents),
		"author_name": "Bot", "author_email": "bot@gitlab.example", "authored_date": k.at,
		"committer_name": "Bot", "committer_email": "bot@gitlab.example", "committed_date": k.at, "created_at": k.at,
		"web_url": c.s.web + "/" + c.p.path + "/-/commit/" + k.id,
	}
}

func listCommits(c *call) answer {
	list := []object{}
	for at := c.p.resolve(c.query("ref_name")); at != nil; {
		list = append(list, c.commit(at))
		if len(at.parents) == 0 {
			break
		}
		at = c.p.commits[at.parents[0]]
	}
	return ok(list)
}

func getCommit(c *call) answer {
	k := c.p.resolve(c.param("sha"))
	if k == nil {
		return missing
	}
	return ok(c.commit(k))
}

func compare(c *call) answer {
	from, to := c.p.resolve(c.query("from")), c.p.resolve(c.query("to"))
	if from == nil || to == nil {
		return missing
	}
	return ok(object{"commit": c.commit(to), "commits": []object{c.commit(to)}, "diffs": diffs(from, to), "compare_timeout": false,
		"compare_same_ref": from == to, "web_url": c.s.web + "/" + c.p.path})
}

// diffs says which files differ; a diff's text is the new content.
func diffs(from, to *commit) []object {
	list := []object{}
	names := maps.Clone(from.files)
	maps.Copy(names, to.files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, had := from.files[name]
		b, has := to.files[name]
		if a != b || had != has {
			list = append(list, object{"old_path": name, "new_path": name, "a_mode": "100644", "b_mode": "100644",
				"diff": "+" + b.content, "new_file": !had, "renamed_file": false, "deleted_file": !has})
		}
	}
	return list
}

var badRef = regexp.MustCompile(`[\x00-\x20~^:?*\[\\\x7f]|\.\.|@\{|//|/$|^/|^\.|/\.|\.$|\.lock(/|$)`)

// validBranch is what GitLab takes as the name of a new branch: what git takes, and
// no full name, no option, no HEAD.
func validBranch(name string) bool {
	return name != "" && name != "HEAD" && name != "@" && !badRef.MatchString(name) && !strings.HasPrefix(name, "-") &&
		!strings.HasPrefix(name, "refs/heads/") && !strings.HasPrefix(name, "refs/remotes/") && !strings.HasPrefix(name, "refs/tags/")
}

func (c *call) branch(name string) object {
	k := c.commit(c.p.commits[c.p.branches[name]])
	return object{"name": name, "commit": k, "merged": false, "protected": c.p.protected[name], "developers_can_push": false,
		"developers_can_merge": false, "can_push": true, "default": name == c.p.deflt, "web_url": c.s.web + "/" + c.p.path + "/-/tree/" + name}
}

func listBranches(c *call) answer {
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(c.p.branches)) {
		if strings.Contains(name, c.query("search")) {
			list = append(list, c.branch(name))
		}
	}
	return ok(list)
}

func getBranch(c *call) answer {
	if _, there := c.p.branches[c.param("branch")]; !there {
		return missing
	}
	return ok(c.branch(c.param("branch")))
}

func postBranch(c *call) answer {
	var in struct {
		Branch string `json:"branch"`
		Ref    string `json:"ref"`
	}
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	from := c.p.resolve(in.Ref)
	switch _, there := c.p.branches[in.Branch]; {
	case there:
		return refuse(http.StatusBadRequest, "Branch already exists")
	case !validBranch(in.Branch):
		return refuse(http.StatusBadRequest, "Branch name is invalid")
	case from == nil:
		return refuse(http.StatusBadRequest, "Invalid reference name: %s", in.Ref)
	}
	c.p.branches[in.Branch] = from.id
	return created(c.branch(in.Branch))
}

func deleteBranch(c *call) answer {
	name := c.param("branch")
	switch _, there := c.p.branches[name]; {
	case !there:
		return missing
	case name == c.p.deflt || c.p.protected[name]:
		return refuse(http.StatusForbidden, "Protected branch can not be removed.")
	}
	delete(c.p.branches, name)
	return gone
}

func (c *call) tag(name string) object {
	k := c.p.commits[c.p.tags[name]]
	return object{"name": name, "message": "", "target": k.id, "commit": c.commit(k), "release": nil, "protected": false, "created_at": k.at}
}

func listTags(c *call) answer {
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(c.p.tags)) {
		list = append(list, c.tag(name))
	}
	return ok(list)
}

func postTag(c *call) answer {
	var in struct {
		Name string `json:"tag_name"`
		Ref  string `json:"ref"`
	}
	if err := c.in(&in); err != nil || in.Name == "" {
		return refuse(http.StatusBadRequest, "tag_name is missing")
	}
	at := c.p.resolve(in.Ref)
	if at == nil {
		return refuse(http.StatusBadRequest, "Target %s is invalid", in.Ref)
	}
	c.p.tags[in.Name] = at.id
	return created(c.tag(in.Name))
}

func deleteTag(c *call) answer {
	if _, there := c.p.tags[c.param("tag")]; !there {
		return missing
	}
	delete(c.p.tags, c.param("tag"))
	return gone
}
