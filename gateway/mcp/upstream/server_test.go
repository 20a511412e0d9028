package upstream_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
)

// The test binary is the upstream process too: what it does is in the variable.
const role = "PRATIQUE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "mute":
		select {}
	case "exit":
		os.Exit(3)
	case "stubborn": // a grandchild that nothing but a kill ends
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
		fmt.Println("ready")
		select {}
	case "parent":
		parent()
	case "sdk":
		_ = sdkServer().Run(context.Background(), &sdk.StdioTransport{})
	default:
		serve(os.Stdin, os.Stdout)
	}
}

// parent starts an upstream and then waits to be killed.
func parent() {
	p := newProcess(nil, "script", nil)
	s := newSink()
	l, err := p.Connect(context.Background(), legacy(), s)
	if err != nil {
		panic(err)
	}
	pass, x := exchange(nil2{}, "child", "")
	f, err := l.Do(context.Background(), pass, x)
	fmt.Println(string(f.Result), err)
	select {}
}

// nil2 is a testing.TB for a process that is no test.
type nil2 struct{ testing.TB }

func (nil2) Helper()           {}
func (nil2) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// newProcess is an upstream on stdio in a role.
func newProcess(t testing.TB, as string, o *upstream.ProcessOptions) *upstream.Process {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if o == nil {
		o = &upstream.ProcessOptions{}
	}
	o.Env = append(upstream.Environ(os.LookupEnv, nil), role+"="+as)
	p, err := upstream.NewProcess("fixture", []string{self}, o)
	if err != nil {
		panic(err)
	}
	if t != nil {
		t.Cleanup(func() { _ = p.Close() })
	}
	return p
}

// serve is a small MCP server of both eras that misbehaves when it is asked to.
func serve(in *os.File, out *os.File) {
	w := bufio.NewWriter(out)
	say := func(format string, args ...any) {
		fmt.Fprintf(w, format+"\n", args...)
		_ = w.Flush()
	}
	r := bufio.NewReaderSize(in, 1<<20)
	listening := ""
	early := []mcp.Frame{} // calls that are about a subscription, before it is there
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		f, err := mcp.ParseOne(bytes.TrimSpace(line), mcp.Limits{Bytes: 64 << 20})
		if err != nil {
			fmt.Fprintln(os.Stderr, "bad frame", err)
			continue
		}
		switch f.Method {
		case "initialize":
			say(`{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fixture","version":"1"},"instructions":"be kind"},"jsonrpc":"2.0","id":%s}`, f.ID)
		case "server/discover":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"1"}}}}`, f.ID)
		case "subscriptions/listen":
			if os.Getenv(role) == "refuses" {
				say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, f.ID)
				continue
			}
			listening = string(f.ID)
			say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"toolsListChanged":true}}}`, f.ID)
			for _, f := range early {
				name, _ := mcp.GetString(f.Params, "name")
				act(name, f, say, r, listening)
			}
			early = nil
		case "tools/list":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"got":%s}}`, f.ID, orNull(f.Params))
		case "tools/call":
			name, _ := mcp.GetString(f.Params, "name")
			if listening == "" && (name == "change" || name == "release") {
				early = append(early, f)
				continue
			}
			act(name, f, say, r, listening)
			if name == "release" {
				listening = ""
			}
		case "notifications/cancelled":
			fmt.Fprintf(os.Stderr, "cancelled %s\n", f.Params)
		}
	}
}

func orNull(v []byte) string {
	if v == nil {
		return "null"
	}
	return string(v)
}

// act carries a call out.
func act(name string, f mcp.Frame, say func(string, ...any), r *bufio.Reader, listening string) {
	token, _ := mcp.Get(f.Params, "_meta", "progressToken")
	done := func() { say(`{"jsonrpc":"2.0","id":%s,"result":{"done":%q}}`, f.ID, name) }
	switch name {
	case "echo":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"params":%s}}`, f.ID, f.Params)
	case "crash":
		os.Exit(3)
	case "silent":
	case "big":
		n, _ := mcp.Get(f.Params, "arguments", "bytes")
		size, _ := strconv.Atoi(string(n))
		say(`{"result":{"text":"%s"},"jsonrpc":"2.0","id":%s}`, strings.Repeat("a", size), f.ID)
	case "deep":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"x":%s%s}}`, f.ID, strings.Repeat("[", 10_000), strings.Repeat("]", 10_000))
	case "utf8":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"x":"`+"\xff\xfe"+`"}}`, f.ID)
	case "wrong":
		say(`{"jsonrpc":"2.0","id":4711,"result":{"bad":1}}`)
		say(`{"jsonrpc":"2.0","id":"%s","result":{"bad":2}}`, f.ID)
		say(`{"jsonrpc":"2.0","id":%s.0,"result":{"bad":3}}`, f.ID)
		say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"who"}}`)
		done()
		say(`{"jsonrpc":"2.0","id":%s,"result":{"bad":4}}`, f.ID)
	case "flood":
		for i := range 20_000 {
			say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`, i)
		}
		say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		done()
	case "ask":
		say(`{"jsonrpc":"2.0","id":"q-1","method":"sampling/createMessage","params":{"messages":[]}}`)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			if a, err := mcp.ParseOne(bytes.TrimSpace(line), mcp.Limits{}); err == nil && a.ID == `"q-1"` {
				say(`{"jsonrpc":"2.0","id":%s,"result":{"answer":%s}}`, f.ID, a.Bytes())
				return
			}
		}
	case "askflood":
		for i := range 2000 {
			say(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, i)
		}
		done()
	case "progress":
		say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"somebody else's","progress":1}}`)
		for i := range 3 {
			say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, orNull(token), i)
		}
		done()
	case "changed":
		say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		done()
	case "change":
		say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, listening)
		done()
	case "release":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":%[1]s}}}`, listening)
		done()
	case "noise":
		say("starting up...\r\n\r\n\t \nError: {not json}\n\ufeff{}\n{\"half\":")
		say("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"done\":\"noise\"}}\r", f.ID)
	case "stderr":
		fmt.Fprintf(os.Stderr, "plain\n\x1b[31mred\x1b[0m\u202e\n%s\n", strings.Repeat("long ", 2000))
		done()
	case "child":
		self, _ := os.Executable()
		c := exec.Command(self)
		c.Env = []string{role + "=stubborn"}
		out, _ := c.StdoutPipe()
		if err := c.Start(); err != nil {
			panic(err)
		}
		_, _ = bufio.NewReader(out).ReadString('\n')
		say(`{"jsonrpc":"2.0","id":%s,"result":{"pid":%d,"me":%d}}`, f.ID, c.Process.Pid, os.Getpid())
	case "noread":
		done()
		time.Sleep(time.Hour)
	}
}
