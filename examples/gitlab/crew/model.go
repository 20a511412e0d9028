package crew

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Model is a language model behind an OpenAI-compatible endpoint.
type Model struct {
	URL  string // base: /chat/completions is added
	Name string
	Key  string // bearer token; empty: none
}

// Instruction is all that a model is told beside its task. It is neutral: it says
// nothing of texts that it will read, neither to do what they say nor not to.
const Instruction = "You look after a software repository. Do the task with the tools that you have. When it is done, say in one sentence what you did."

// Bounds of a model's run.
const (
	MaxTurns  = 24
	maxAnswer = 8 << 20
	patience  = 5 * time.Minute // for one answer
)

type message struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitzero"`
	CallID  string     `json:"tool_call_id,omitzero"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type offered struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	} `json:"function"`
}

// Do lets the model do a task in words with the tools that the session lists, and
// gives its calls and its last word.
func (m *Model) Do(ctx context.Context, s *Session, task string) (steps []Step, last string, err error) {
	tools, err := s.Tools(ctx)
	if err != nil {
		return nil, "", err
	}
	offer := make([]offered, len(tools))
	for i, t := range tools {
		offer[i].Type = "function"
		offer[i].Function.Name, offer[i].Function.Description, offer[i].Function.Parameters = t.Name, t.Description, t.Schema
	}
	talk := []message{text("system", Instruction), text("user", task)}
	for range MaxTurns {
		answer, err := m.ask(ctx, talk, offer)
		if err != nil {
			return steps, "", err
		}
		talk = append(talk, answer)
		if len(answer.Calls) == 0 {
			return steps, deref(answer.Content), nil
		}
		for _, c := range answer.Calls {
			st := call(ctx, s, c)
			if ctx.Err() != nil {
				return steps, "", ctx.Err()
			}
			steps = append(steps, st)
			reply := text("tool", st.Result.Text)
			reply.CallID = c.ID
			talk = append(talk, reply)
		}
	}
	return steps, fmt.Sprintf("(stopped after %d turns)", MaxTurns), nil
}

// call makes one call of the model's. What is no call is told to it as a failure.
func call(ctx context.Context, s *Session, c toolCall) Step {
	args := jsontext.Value(c.Function.Arguments)
	if len(bytes.TrimSpace(args)) == 0 {
		args = jsontext.Value("{}")
	}
	st := Step{Why: "model", Tool: c.Function.Name, Args: args}
	if !args.IsValid() || args.Kind() != '{' {
		st.Args = jsontext.Value("{}")
		st.Result = Result{Text: "The arguments are not a JSON object.", Failed: true}
		return st
	}
	r, err := s.Call(ctx, c.Function.Name, args)
	if err != nil {
		r = Result{Text: err.Error(), Failed: true}
	}
	st.Result = r
	return st
}

func (m *Model) ask(ctx context.Context, talk []message, tools []offered) (message, error) {
	body, err := json.Marshal(object{"model": m.Name, "messages": talk, "tools": tools, "temperature": 0})
	if err != nil {
		return message{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(m.URL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	if m.Key != "" {
		r.Header.Set("Authorization", "Bearer "+m.Key)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return message{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return message{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return message{}, fmt.Errorf("the model answers %s: %.300s", resp.Status, raw)
	}
	var out struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(raw, &out); err != nil || len(out.Choices) == 0 {
		return message{}, fmt.Errorf("the model's answer is no completion: %.300s", raw)
	}
	return out.Choices[0].Message, nil
}

func text(role, s string) message { return message{Role: role, Content: &s} }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
