package policy

import (
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/guard"
)

// form is the rule file that the digest is made over.
type form struct {
	Default string        `json:"default"`
	Shadow  bool          `json:"shadow,omitzero"`
	Guards  *guard.Config `json:"guards,omitzero"`
	Rules   []ruleForm    `json:"rules"`
}

type ruleForm struct {
	Name      string                      `json:"name"`
	Allow     []string                    `json:"allow,omitzero"`
	Ask       []string                    `json:"ask,omitzero"`
	Never     []string                    `json:"never,omitzero"`
	Methods   []string                    `json:"methods,omitzero"`
	Results   string                      `json:"results,omitzero"`
	Say       string                      `json:"say,omitzero"`
	Origins   []string                    `json:"origins,omitzero"`
	Agents    []string                    `json:"agents,omitzero"`
	Effects   []string                    `json:"effects,omitzero"`
	When      string                      `json:"when,omitzero"`
	Args      map[string]guard.Constraint `json:"args,omitzero"`
	Rate      *rateForm                   `json:"rate,omitzero"`
	New       []string                    `json:"new,omitzero"`
	Assurance string                      `json:"assurance,omitzero"`
	Shadow    bool                        `json:"shadow,omitzero"`
}

type rateForm struct {
	Over uint64 `json:"over"`
	Per  string `json:"per"`
}

func (r *Rules) form() *form {
	f := &form{Default: "deny", Shadow: r.shadow, Guards: r.config, Rules: []ruleForm{}}
	for i := range r.rules {
		f.Rules = append(f.Rules, r.rules[i].form())
	}
	return f
}

func (r *rule) form() ruleForm {
	f := ruleForm{Name: r.name, Methods: r.methods, Say: r.say, Origins: r.origins, Agents: r.agents, Args: r.args, New: r.fresh, Shadow: r.shadow}
	switch r.verb {
	case Allow:
		f.Allow = r.names
	case Ask:
		f.Ask = r.names
	default:
		f.Never = r.names
	}
	if r.said {
		f.Results = r.way.String()
	}
	if r.when != nil {
		f.When = r.when.text
	}
	if r.per != nil {
		f.Rate = &rateForm{r.rate, r.period}
	}
	if r.least != labels.AssuranceNone {
		f.Assurance = r.least.String()
	}
	f.Effects = effectNames(r.effects)
	return f
}

// effectNames are the names of a set of effects, in their order; nil: of none.
func effectNames(e labels.Effect) []string {
	var list []string
	for _, one := range []labels.Effect{labels.Read, labels.Write, labels.Egress, labels.Execute, labels.Destructive} {
		if e&one != 0 {
			list = append(list, one.String())
		}
	}
	return list
}
