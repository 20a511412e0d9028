package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Two commands for scripts: an MCP server that shows the tools of a file, and an
// agent that sends the lines of one.

// mcpServer serves on stdio: `mcpserver tools.json`. The file, a list of tools, is
// read again for each list; each call is written to tools.json.calls and answered
// with its arguments.
func mcpServer() {
	file := os.Args[1]
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
			Params struct {
				Name      string         `json:"name"`
				Arguments jsontext.Value `json:"arguments"`
				Version   string         `json:"protocolVersion"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fixture","version":"1"}}`, m.Params.Version)
		case "tools/list":
			tools, err := os.ReadFile(file)
			if err != nil {
				os.Exit(1)
			}
			v := jsontext.Value(tools)
			v.Compact()
			result = `{"tools":` + string(v) + `}`
		case "tools/call":
			f, _ := os.OpenFile(file+".calls", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			fmt.Fprintf(f, "%s %s\n", m.Params.Name, m.Params.Arguments)
			f.Close()
			text, _ := json.Marshal(string(m.Params.Arguments))
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// mcpAgent speaks to a command or an endpoint: `mcpagent calls.txt -- CMD ARGS...`
// or `mcpagent calls.txt URL`. A line of the file is "list", or "call NAME {args}";
// for each it prints one line, names of tools or the answer's text.
func mcpAgent() {
	lines, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ask, end, err := mcpDial(os.Args[2:])
	if err == nil {
		_, err = ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}`)
	}
	for line := range strings.Lines(string(lines)) {
		if err != nil {
			break
		}
		err = mcpLine(strings.TrimSpace(line), ask)
	}
	if end != nil {
		end()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type asker func(method, params string) (jsontext.Value, error)

func mcpLine(line string, ask asker) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "list":
		v, err := ask("tools/list", `{}`)
		var r struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		if err == nil {
			err = json.Unmarshal(v, &r)
		}
		var names []string
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		fmt.Println("tools:", strings.Join(names, " "))
		return err
	case "call":
		name, args, _ := strings.Cut(rest, " ")
		v, err := ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
		fmt.Println(name+":", string(v))
		return err
	}
	return nil
}

func mcpDial(args []string) (asker, func(), error) {
	n := 0
	request := func(method, params string) string {
		n++
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, params)
	}
	if args[0] != "--" {
		session := ""
		return func(method, params string) (jsontext.Value, error) {
			return mcpPost(args[0], request(method, params), &session)
		}, func() {}, nil
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReader(out)
	ask := func(method, params string) (jsontext.Value, error) {
		fmt.Fprintln(in, request(method, params))
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return nil, err
			}
			if v, mine, err := mcpAnswer(line, n); mine || err != nil {
				return v, err
			}
		}
	}
	return ask, func() {
		in.Close()
		io.Copy(io.Discard, lines)
		if err := cmd.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, "ended with", err)
			os.Exit(1)
		}
	}, nil
}

func mcpAnswer(line []byte, id int) (jsontext.Value, bool, error) {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Result jsontext.Value `json:"result"`
		Error  jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, false, fmt.Errorf("not a frame: %q", line)
	}
	if string(m.ID) != fmt.Sprint(id) {
		return nil, false, nil
	}
	if m.Error != nil {
		return m.Error, true, nil
	}
	return m.Result, true, nil
}

func mcpPost(url, body string, session *string) (jsontext.Value, error) {
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if *session != "" {
		r.Header.Set("Mcp-Session-Id", *session)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	if s := a.Header.Get("Mcp-Session-Id"); s != "" {
		*session = s
	}
	text, err := io.ReadAll(a.Body)
	if a.StatusCode != 200 || err != nil {
		return nil, fmt.Errorf("status %d %v", a.StatusCode, err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimPrefix(line, "data: ")
		if strings.HasPrefix(line, "{") {
			var id struct {
				ID int `json:"id"`
			}
			if json.Unmarshal([]byte(line), &id) == nil && id.ID > 0 {
				v, _, err := mcpAnswer([]byte(line), id.ID)
				return v, err
			}
		}
	}
	return nil, fmt.Errorf("no answer in %q", text)
}
