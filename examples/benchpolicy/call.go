package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
)

// tool is what is called: a request for the merge of a branch, as repositories have it.
const tool = "create_merge_request"

const schema = `{"name":"create_merge_request","description":"Create a merge request.","inputSchema":{"type":"object","properties":{` +
	`"project_id":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},"source_branch":{"type":"string"},"target_branch":{"type":"string"},` +
	`"target_project_id":{"type":["string","integer"]},"assignee_ids":{"type":"array","items":{"type":"integer"}},"reviewer_ids":{"type":"array","items":{"type":"integer"}},` +
	`"labels":{"type":"array","items":{"type":"string"}},"draft":{"type":"boolean"},"allow_collaboration":{"type":"boolean"},"remove_source_branch":{"type":"boolean"},` +
	`"squash":{"type":"boolean"},"milestone_id":{"anyOf":[{"type":"integer"},{"type":"null"}]},"branch":{"type":"string"},` +
	`"actions":{"type":"array","items":{"type":"object","properties":{"action":{"type":"string","enum":["create","update","delete"]},"file_path":{"type":"string"},` +
	`"content":{"type":"string"},"encoding":{"type":"string","enum":["text","base64"]}},"required":["action","file_path"]}}},` +
	`"required":["project_id","title","source_branch","target_branch"]}}`

// size is that of the frame, in bytes.
const size = 1024

// frame is the call, padded to its size with prose.
func (*house) frame() mcp.Frame {
	head := `{"name":"` + tool + `","arguments":{"project_id":"group/project","title":"Add the form for new accounts","source_branch":"feature/new-accounts","target_branch":"develop",` +
		`"assignee_ids":[1204,977],"reviewer_ids":[35],"labels":["accounts","frontend"],"draft":false,"allow_collaboration":true,"remove_source_branch":true,"squash":true,"milestone_id":null,` +
		`"branch":"feature/new-accounts","actions":[{"action":"create","file_path":"src/accounts/form.ts","content":"export const fields = ['name', 'mail'];\n","encoding":"text"},` +
		`{"action":"update","file_path":"docs/accounts.md","content":"# Accounts\n\nNew accounts are made with a form.\n","encoding":"text"}],"description":"`
	tail := `"},"_meta":{"progressToken":7}}`
	f := mcp.Frame{Shape: mcp.Request, ID: "7", Method: "tools/call", Params: jsontext.Value(head + tail)}
	prose := strings.Repeat("The form asks for a name and an address. It says at once what is missing, and sends nothing before.\\n", 10)
	f.Params = jsontext.Value(head + prose[:size-len(f.Bytes())] + tail)
	return f
}

// layers are so many rules in an organisation's file, a site's own and an intent. Four,
// three and three of them speak of the tool; the others name other tools.
func layers(rules int, item policy.SealedItem) (policy.Policy, error) {
	own := [3][]string{
		{
			`allow: [create_merge_request, create_issue], args: {target_branch: {not_refs: [main, master, "release/*"]}}`,
			`never: ["*"], effects: [destructive], when: 'args.remove_source_branch && args.source_branch == "main"'`,
			`ask: [create_merge_request], when: 'size(args.reviewer_ids) == 0'`,
			`never: [create_merge_request], args: {source_branch: {refs: ["release/*"]}}`,
		},
		{
			`allow: [create_merge_request]`,
			`ask: [create_merge_request], when: 'args.project_id != "group/project"'`,
			`never: [create_merge_request], when: 'agent.profile == "watch"'`,
		},
		{
			`allow: [create_merge_request], args: {file_path: {within: [src, docs], optional: true}, project_id: {equals: group/project}}`,
			`never: [create_merge_request], when: 'args.squash == false'`,
			`ask: [create_merge_request], when: 'args.title.startsWith("Draft")'`,
		},
	}
	var made [3]*policy.Rules
	left := rules
	for i, some := range own {
		n := left / (len(own) - i)
		left -= n
		var b strings.Builder
		b.WriteString("rules:\n")
		for j := range max(n, len(some)) {
			if j < len(some) {
				fmt.Fprintf(&b, "  - {name: r%d, %s}\n", j, some[j])
			} else {
				fmt.Fprintf(&b, "  - {name: r%d, allow: [other_%d_%d], when: 'args.id == %d'}\n", j, i, j, j)
			}
		}
		var err error
		if made[i], err = policy.Load([]byte(b.String())); err != nil {
			return nil, err
		}
	}
	return policy.Layers{Organisation: made[0], Origin: made[1], Intent: &policy.Sealed{
		Rules: made[2], Items: []policy.SealedItem{item}, Expires: time.Now().Add(24 * time.Hour), Digest: credentials.Digest{1},
	}}.Policy(), nil
}
