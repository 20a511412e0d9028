// Package mcptest is both ends of MCP for tests of what stands between them: an
// upstream that does what a script says, over HTTP or as a process on stdio, and an
// agent that sends bytes as they stand. Both speak both protocol eras.
//
// The upstream writes every frame that it received to a log of its own, as the
// bytes they are. What was executed is read from there, and not from anything
// that the thing under test says of itself.
//
//	func TestMain(m *testing.M) { mcptest.Main(); os.Exit(m.Run()) }
//
//	up := mcptest.NewStdio(t, mcptest.Script{
//		Tools:   mcptest.List{Items: []mcptest.JSON{mcptest.Tool("echo", "Echoes.")}},
//		Answers: map[string]mcptest.Answer{"echo": {Echo: true}},
//	})
//	agent := mcptest.StartStdio(t, "2025-11-25", up.Command()...) // or the thing under test, with up.Command() as its upstream
//	agent.Start()
//	m := agent.Call("echo", `{"n":9007199254740993}`)
//	// m.Text(), up.Executed("echo"), up.Set(...), up.Changed(), up.Restart() ...
//
// Nothing here sleeps to wait for something: a call or a list waits at a gate
// until the test opens it, and WaitCall and its like wait for what was received.
package mcptest
