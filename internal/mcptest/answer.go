package mcptest

import (
	"bytes"
	"strconv"
	"strings"
)

// odd tells whether there is more to an answer than waiting.
func (a Answer) odd() bool {
	return a.Silent || a.WrongID || a.Raw != nil || a.Error != nil || a.Result != nil || a.Big > 0 || a.Deep > 0 || a.Utf8 || a.Exit
}

// call answers what carries a name.
func (e *exchange) call(s Script, key string, listed bool, def JSON) {
	a, scripted := s.Answers[key]
	if !listed && !scripted {
		e.send(failure(e.m.ID, -32602, "unknown name"))
		return
	}
	if !e.p.s.await(e.ctx, a.Gate) || !pause(e.ctx, a.DelayMs) {
		return
	}
	if a.Becomes != nil {
		e.p.s.become(a.Becomes)
	}
	for _, n := range a.Notify {
		e.p.s.notify(n)
	}
	e.chatter(a)
	if len(a.Questions) > 0 {
		answered, goOn := e.questions(a, key)
		if !goOn {
			return
		}
		if answered != "" {
			def = TextResult(answered)
		}
	}
	if a.CutStream && e.cut != nil {
		e.cut()
	}
	e.give(a, def)
}

// become changes the tools from now on.
func (s *server) become(tools []JSON) {
	s.mu.Lock()
	st := s.st
	s.mu.Unlock()
	st.Script.Tools.Items, st.Script.Tools.Versions = tools, nil
	s.set(st)
}

// chatter sends what comes before an answer.
func (e *exchange) chatter(a Answer) {
	if token := Path(e.m.Params, "_meta", "progressToken"); token != nil {
		for i := range a.Progress {
			var text JSON
			if a.Message != "" {
				text = quote(a.Message)
			}
			e.send(request(nil, "notifications/progress", object("progressToken", token,
				"progress", JSON(strconv.Itoa(i+1)), "total", JSON(strconv.Itoa(a.Progress)), "message", text)))
		}
	}
	for _, data := range a.Logs {
		e.send(request(nil, "notifications/message", object("level", quote("info"), "logger", quote("fixture"), "data", data)))
	}
	for i := range a.Flood {
		if e.ctx.Err() != nil {
			return
		}
		e.send(request(nil, "notifications/message", object("level", quote("info"), "data", JSON(strconv.Itoa(i)))))
	}
	if a.Noise != "" {
		e.send([]byte(a.Noise))
	}
}

// questions asks what is to be asked, and gives the answers as a text. The call
// goes on if there are answers to all.
func (e *exchange) questions(a Answer, key string) (string, bool) {
	var got []string
	if !e.modern {
		for _, q := range a.Questions {
			m, ok := e.question(q)
			if !ok {
				return "", false
			}
			got = append(got, string(m.Result)+string(m.Error))
		}
		return strings.Join(got, "\n"), true
	}
	rounds, round := max(1, a.Rounds), 0
	if state := Text(e.m.Params, "requestState"); state != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(state, "state:"+key+":"))
		if err != nil || n < 1 || n > rounds {
			e.send(failure(e.m.ID, -32602, "unknown requestState"))
			return "", false
		}
		round = n
	}
	var wanted []any
	for i, q := range a.Questions {
		if q.Key == "" {
			q.Key = "q" + strconv.Itoa(i)
		}
		got = append(got, string(Path(e.m.Params, "inputResponses", q.Key)))
		wanted = append(wanted, q.Key, object("method", quote(q.Method), "params", q.Params))
	}
	if round < rounds {
		e.send(answer(e.m.ID, object("resultType", quote("input_required"), "inputRequests", object(wanted...),
			"requestState", quote("state:"+key+":"+strconv.Itoa(round+1)))))
		return "", false
	}
	return strings.Join(got, "\n"), true
}

// give sends an answer.
func (e *exchange) give(a Answer, def JSON) {
	id := e.m.ID
	if a.WrongID {
		id = `"nobody-asked"`
	}
	switch {
	case a.Exit:
		e.p.s.end()
	case a.Silent:
		<-e.ctx.Done()
	case a.Raw != nil:
		e.send(bytes.ReplaceAll(a.Raw, []byte("%ID%"), []byte(id)))
	case a.Error != nil:
		e.send(failed(id, a.Error))
	case a.Utf8:
		e.send([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + "a\xff\xfeb" + `"}]}}`))
	case a.Deep > 0:
		e.send([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[],"structuredContent":{"deep":` + strings.Repeat("[", a.Deep) + strings.Repeat("]", a.Deep) + `}}}`))
	case a.Big > 0 || a.Tail != "":
		e.send(big(id, a, e.modern))
	case a.Echo:
		e.finish(id, echo(Path(e.m.Params, "arguments")))
	case a.Result != nil:
		e.finish(id, a.Result)
	default:
		e.finish(id, def)
	}
}

// big is an answer of many bytes, made with no more copies than it must be.
func big(id string, a Answer, modern bool) []byte {
	head := `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"`
	tail := `"}]}}`
	if modern {
		tail = `"}],"resultType":"complete"}}`
	}
	quoted := quote(a.Tail)
	out := append(make([]byte, 0, len(head)+a.Big+len(quoted)+len(tail)), head...)
	for range a.Big {
		out = append(out, 'a')
	}
	return append(append(out, quoted[1:len(quoted)-1]...), tail...)
}

func (e *exchange) finish(id string, result JSON) {
	if e.modern {
		result = with(result, "resultType", quote("complete"))
	}
	e.send(answer(id, result))
}

// echo is the arguments as they came.
func echo(arguments JSON) JSON {
	var structured JSON
	if arguments.Kind() == '{' {
		structured = arguments
	}
	return with(TextResult(string(arguments)), "structuredContent", structured)
}
