package standin

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

func (s *Server) ciRoutes() {
	const at = "/projects/{id}"
	s.handle("GET "+at+"/pipelines", listPipelines)
	s.handle("POST "+at+"/pipeline", postPipeline)
	s.handle("GET "+at+"/pipelines/{pipeline}", onPipeline(func(c *call, p *pipeline) answer { return ok(c.pipeline(p)) }))
	s.handle("DELETE "+at+"/pipelines/{pipeline}", onPipeline(deletePipeline))
	s.handle("GET "+at+"/pipelines/{pipeline}/jobs", onPipeline(listJobs))
	s.handle("POST "+at+"/pipelines/{pipeline}/cancel", onPipeline(func(c *call, p *pipeline) answer {
		p.status = "canceled"
		return ok(c.pipeline(p))
	}))
	s.handle("GET "+at+"/jobs/{job}/trace", onJob(func(_ *call, j *job) answer { return answer{status: http.StatusOK, text: j.trace} }))
	s.handle("POST "+at+"/jobs/{job}/play", onJob(play))
	s.handle("POST "+at+"/trigger/pipeline", trigger)
	s.handle("POST "+at+"/statuses/{sha}", postStatus)
	s.handle("POST /graphql", graphQL)
}

func (c *call) pipeline(p *pipeline) object {
	return object{"id": p.id, "project_id": c.p.id, "sha": p.sha, "ref": p.ref, "status": p.status, "source": "api", "created_at": p.at,
		"updated_at": p.at, "web_url": c.s.web + "/" + c.p.path + "/-/pipelines/" + strconv.Itoa(p.id)}
}

func onPipeline(f func(*call, *pipeline) answer) func(*call) answer {
	return func(c *call) answer {
		for _, p := range c.p.pipelines {
			if strconv.Itoa(p.id) == c.param("pipeline") {
				return f(c, p)
			}
		}
		return missing
	}
}

func onJob(f func(*call, *job) answer) func(*call) answer {
	return func(c *call) answer {
		for _, j := range c.p.jobs {
			if strconv.Itoa(j.id) == c.param("job") {
				return f(c, j)
			}
		}
		return missing
	}
}

func listPipelines(c *call) answer {
	list := []object{}
	for _, p := range c.p.pipelines {
		list = append(list, c.pipeline(p))
	}
	return ok(list)
}

func postPipeline(c *call) answer {
	var in struct {
		Ref       string     `json:"ref"`
		Variables []variable `json:"variables"`
	}
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	return c.start(in.Ref, in.Variables)
}

// start makes a pipeline on a branch or tag, by its short or its full name.
func (c *call) start(ref string, variables []variable) answer {
	at := c.p.resolve(ref)
	if at == nil || at.id == ref {
		return refuse(http.StatusBadRequest, "Reference not found")
	}
	p := &pipeline{id: c.s.id(), ref: strings.TrimPrefix(branchOf(ref), "refs/tags/"), sha: at.id, status: "running", at: c.s.tick(), variables: variables}
	c.p.pipelines = append(c.p.pipelines, p)
	return created(c.pipeline(p))
}

// trigger starts a pipeline by the token of a trigger.
func trigger(c *call) answer {
	for _, t := range c.p.triggers {
		if text(t, "token") == c.query("token") {
			var in struct {
				Variables map[string]string `json:"variables"`
			}
			if err := c.in(&in); err != nil {
				return refuse(http.StatusBadRequest, "%v", err)
			}
			var list []variable
			for k, v := range in.Variables {
				list = append(list, variable{k, v})
			}
			return c.start(c.query("ref"), list)
		}
	}
	return missing
}

func deletePipeline(c *call, p *pipeline) answer {
	var kept []*pipeline
	for _, x := range c.p.pipelines {
		if x != p {
			kept = append(kept, x)
		}
	}
	c.p.pipelines = kept
	return gone
}

func (c *call) job(j *job) object {
	return object{"id": j.id, "status": j.status, "stage": j.stage, "name": j.name, "ref": j.ref, "tag": false, "created_at": j.at,
		"web_url": c.s.web + "/" + c.p.path + "/-/jobs/" + strconv.Itoa(j.id)}
}

func listJobs(c *call, p *pipeline) answer {
	list := []object{}
	for _, j := range c.p.jobs {
		if j.pipeline == p.id {
			list = append(list, c.job(j))
		}
	}
	return ok(list)
}

func play(c *call, j *job) answer {
	j.status = "running"
	return ok(c.job(j))
}

// postStatus says that a check outside passed, or did not. It is said in the query.
func postStatus(c *call) answer {
	at, state, name := c.p.resolve(c.param("sha")), c.query("state"), or(c.query("name"), "default")
	if at == nil || state == "" {
		return refuse(http.StatusBadRequest, "state is missing")
	}
	c.p.jobs = append(c.p.jobs, &job{id: c.s.id(), name: name, stage: "external", status: state, ref: c.p.deflt, at: c.s.tick()})
	return created(object{"id": c.s.last, "sha": at.id, "status": state, "name": name})
}

var pipelineCreate = regexp.MustCompile(`pipelineCreate\s*\(\s*input:\s*\{\s*projectPath:\s*"([^"]*)",\s*ref:\s*"([^"]*)"`)

// graphQL knows one mutation: what starts a pipeline. The rest of GraphQL is not
// here.
func graphQL(c *call) answer {
	var in struct {
		Query string `json:"query"`
	}
	if err := c.in(&in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	m := pipelineCreate.FindStringSubmatch(in.Query)
	if m == nil {
		return ok(object{"errors": []object{{"message": "not in this stand-in"}}})
	}
	if c.p = c.s.project(m[1]); c.p == nil {
		return ok(object{"errors": []object{{"message": "no such project"}}})
	}
	a := c.start(m[2], nil)
	return ok(object{"data": object{"pipelineCreate": object{"errors": []string{}, "pipeline": a.value}}})
}
