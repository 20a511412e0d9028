package mcp

// Names that many rows know.
var (
	inPage  = []string{"cursor"}
	inRetry = []string{"inputResponses", "requestState"} // modern: the answer to input_required
)

// table is every method of the revisions that are spoken. It is written by hand:
// a method that a later revision brings is refused until somebody decided about
// it here. Rows that are refused both ways are there to say so.
var table = rows(
	// The handshake of the legacy era, and what took its place.
	Method{Name: "initialize", Agent: Here, Until: Rev20251125, Effect: NoEffect,
		Params: []string{"protocolVersion", "capabilities", "clientInfo"}},
	Method{Name: "notifications/initialized", Notification: true, Agent: Here, Until: Rev20251125, Effect: NoEffect},
	Method{Name: "server/discover", Agent: Here, Since: Rev20260728, Effect: NoEffect},
	Method{Name: "ping", Agent: Here, Upstream: Here, Until: Rev20251125, Effect: NoEffect},

	// Lists: the gateway asks for them itself, and answers from what was cleared.
	Method{Name: "tools/list", Agent: Surface, Effect: NoEffect, List: "tools/list", Items: KindTool, Params: inPage},
	Method{Name: "prompts/list", Agent: Surface, Effect: NoEffect, List: "prompts/list", Items: KindPrompt, Params: inPage},
	Method{Name: "resources/list", Agent: Surface, Effect: NoEffect, List: "resources/list", Items: KindResource, Params: inPage},
	Method{Name: "resources/templates/list", Agent: Surface, Effect: NoEffect, List: "resources/templates/list", Items: KindTemplate, Params: inPage},

	// What carries values that the agent chose (RULES.md 4).
	Method{Name: "tools/call", Agent: Path, Effect: Unclassified, List: "tools/list", Items: KindTool, Header: "name",
		Params: append([]string{"name", "arguments", "task"}, inRetry...)},
	Method{Name: "prompts/get", Agent: Path, Effect: Reads, List: "prompts/list", Items: KindPrompt, Header: "name",
		Params: append([]string{"name", "arguments"}, inRetry...)},
	Method{Name: "resources/read", Agent: Path, Effect: Reads, List: "resources/list", Items: KindResource, Header: "uri",
		Params: append([]string{"uri"}, inRetry...)},
	Method{Name: "resources/subscribe", Agent: Path, Until: Rev20251125, Effect: Reads, List: "resources/list", Items: KindResource,
		Params: []string{"uri"}},
	Method{Name: "resources/unsubscribe", Agent: Path, Until: Rev20251125, Effect: Reads, List: "resources/list", Items: KindResource,
		Params: []string{"uri"}},
	Method{Name: "subscriptions/listen", Agent: Path, Since: Rev20260728, Effect: Reads, List: "resources/list", Items: KindResource,
		Params: []string{"notifications"}},
	Method{Name: "completion/complete", Agent: Path, Effect: Reads, List: "prompts/list", Items: KindPrompt,
		Params: []string{"ref", "argument", "context"}},
	Method{Name: "logging/setLevel", Agent: Path, Until: Rev20251125, Effect: Reads,
		Params: []string{"level"}},

	// Questions of the upstream (RULES.md 5). In the modern era they stand in results.
	Method{Name: "sampling/createMessage", Upstream: Question, Until: Rev20251125, Input: true, Effect: Unclassified,
		Params: []string{"messages", "modelPreferences", "systemPrompt", "includeContext", "temperature", "maxTokens", "stopSequences", "metadata", "tools", "toolChoice", "task"}},
	Method{Name: "elicitation/create", Upstream: Question, Since: Rev20250618, Until: Rev20251125, Input: true, Effect: Unclassified,
		Params: []string{"mode", "message", "requestedSchema", "elicitationId", "url", "task"}},
	Method{Name: "roots/list", Upstream: Question, Until: Rev20251125, Input: true, Effect: Unclassified},

	// Notifications. An agent's progress on a question would be free text to the
	// upstream: it ends here.
	Method{Name: "notifications/cancelled", Notification: true, Agent: Here, Upstream: Here, Effect: NoEffect,
		Params: []string{"requestId", "reason"}},
	Method{Name: "notifications/progress", Notification: true, Upstream: Passed, Effect: NoEffect,
		Params: []string{"progressToken", "progress", "total", "message"}},
	Method{Name: "notifications/message", Notification: true, Upstream: Passed, Effect: NoEffect,
		Params: []string{"level", "logger", "data"}},
	Method{Name: "notifications/tools/list_changed", Notification: true, Upstream: Here, Effect: NoEffect, List: "tools/list", Items: KindTool},
	Method{Name: "notifications/prompts/list_changed", Notification: true, Upstream: Here, Effect: NoEffect, List: "prompts/list", Items: KindPrompt},
	Method{Name: "notifications/resources/list_changed", Notification: true, Upstream: Here, Effect: NoEffect, List: "resources/list", Items: KindResource},
	Method{Name: "notifications/resources/updated", Notification: true, Upstream: Passed, Effect: NoEffect, List: "resources/list", Items: KindResource,
		Params: []string{"uri"}},
	Method{Name: "notifications/subscriptions/acknowledged", Notification: true, Upstream: Here, Since: Rev20260728, Effect: NoEffect,
		Params: []string{"notifications"}},
	Method{Name: "notifications/elicitation/complete", Notification: true, Upstream: Passed, Since: Rev20251125, Effect: NoEffect,
		Params: []string{"elicitationId"}},
	Method{Name: "notifications/roots/list_changed", Notification: true, Agent: Passed, Until: Rev20251125, Effect: NoEffect},

	// Tasks: experimental in 2025-11-25, an extension after it. They let a result be
	// fetched apart from the call that made it, which the path does not follow.
	Method{Name: "tasks/get", Since: Rev20251125, Until: Rev20251125, Params: []string{"taskId"}},
	Method{Name: "tasks/result", Since: Rev20251125, Until: Rev20251125, Params: []string{"taskId"}},
	Method{Name: "tasks/list", Since: Rev20251125, Until: Rev20251125, Params: inPage},
	Method{Name: "tasks/cancel", Since: Rev20251125, Until: Rev20251125, Params: []string{"taskId"}},
	Method{Name: "notifications/tasks/status", Notification: true, Since: Rev20251125, Until: Rev20251125, Params: []string{"taskId"}},
)

func rows(list ...Method) map[string]*Method {
	t := make(map[string]*Method, len(list))
	for _, m := range list {
		m.Params = append([]string{"_meta"}, m.Params...)
		m.names = newNameSet(m.Params...)
		t[m.Name] = &m
	}
	return t
}
