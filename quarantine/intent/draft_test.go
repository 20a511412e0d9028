package intent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/intent"
)

// offer is a tool with arguments; "files/path" stands in the elements of a list.
func offer(name string, effect labels.Effect, args ...string) intent.Offer {
	var props []string
	for _, a := range args {
		if list, member, ok := strings.Cut(a, "/"); ok {
			props = append(props, fmt.Sprintf(`%q:{"type":"array","items":{"type":"object","properties":{%q:{"type":"string"}}}}`, list, member))
			continue
		}
		props = append(props, fmt.Sprintf(`%q:{"type":"string"}`, a))
	}
	return intent.OfferOf([]byte(fmt.Sprintf(`{"name":%q,"description":"Ignore this.","inputSchema":{"type":"object","properties":{%s}}}`, name, strings.Join(props, ","))), effect)
}

var forge = []intent.Offer{
	offer("get_file_contents", labels.Read, "project_id", "file_path", "ref"), offer("push_files", labels.Write, "project_id", "branch", "files/file_path"),
	offer("create_or_update_file", labels.Write, "project_id", "branch", "file_path", "content"), offer("create_branch", labels.Write, "project_id", "branch"),
	offer("delete_branch", labels.Write|labels.Destructive, "project_id", "branch"), offer("create_merge_request", labels.Write, "project_id", "source_branch", "target_branch"),
	offer("merge_merge_request", labels.Write, "project_id", "merge_request_iid"), offer("list_merge_requests", labels.Read, "project_id"),
	offer("get_merge_request_diffs", labels.Read, "project_id", "merge_request_iid"), offer("list_issues", labels.Read, "project_id"),
	offer("get_issue", labels.Read, "project_id", "issue_iid"), offer("create_issue", labels.Write, "project_id", "title"), offer("update_issue", labels.Write, "project_id", "issue_iid"),
	offer("create_issue_note", labels.Write, "project_id", "issue_iid", "body"), offer("get_draft_note", labels.Read, "project_id"), offer("create_pipeline", labels.Execute, "project_id", "ref"),
	offer("list_pipelines", labels.Read, "project_id"), offer("create_release", labels.Write, "project_id", "tag_name"), offer("fork_repository", labels.Write, "project_id"),
	offer("search_code", labels.Read, "search"), offer("list_project_variables", labels.Read, "project_id"), offer("create_webhook", labels.Egress, "project_id", "url"),
}

var disk = []intent.Offer{
	offer("read_text_file", labels.Read, "path"), offer("write_file", labels.Write, "path", "content"), offer("edit_file", labels.Write, "path", "edits/oldText"),
	offer("create_directory", labels.Write, "path"), offer("list_directory", labels.Read, "path"), offer("directory_tree", labels.Read, "path"),
	offer("move_file", labels.Write, "source", "destination"), offer("search_files", labels.Read, "path", "pattern"), offer("list_allowed_directories", labels.Read),
}

var post = []intent.Offer{
	offer("search_emails", labels.Read, "query"), offer("send_email", labels.Egress, "to", "bcc", "body"), offer("delete_email", labels.Destructive|labels.Write, "id"), offer("read_email", labels.Read, "id"),
}

// TestDraft: the words of a task choose the tools that it needs and no others, and hold
// their arguments to what it names.
func TestDraft(t *testing.T) {
	for _, x := range []struct {
		task      string
		catalogue []intent.Offer
		tools     string
		texts     []string
	}{
		{"Raise left-pad to 1.3.1 in package.json of acme/shop and open a merge request.", forge,
			"create_branch create_merge_request create_or_update_file get_file_contents push_files",
			[]string{`"file_path": {file: ["package.json"]} #`, `"file_path": {file: ["package.json"], optional: true}`, `"project_id": {one_of: ["acme/shop"]}`, "expires: 2h"}},
		{"Read the changelog, bump the dependency left-pad in package.json on branch bot/left-pad, then open a merge request against main.", forge,
			"create_branch create_merge_request create_or_update_file get_file_contents push_files search_code", []string{`"branch": {one_of: ["bot/left-pad"]}`, `"source_branch": {one_of: ["bot/left-pad"]}`}},
		{"Summarise the open issues of acme/shop.", forge, "get_issue list_issues", []string{"expires: 1h"}},
		{"Triage the new issues in acme/shop: label them and leave a comment on each", forge, "create_issue_note get_issue list_issues update_issue", nil},
		{"Answer issue #12 in acme/shop with a comment", forge, "create_issue_note get_issue list_issues", []string{`"issue_iid": {one_of: ["12"]}`}},
		{"Open an issue in acme/shop about the slow start", forge, "create_issue get_issue list_issues", nil},
		{"Delete the branch old/stuff of acme/shop", forge, "delete_branch", []string{`"branch": {one_of: ["old/stuff"]}`}},
		{"Cut a release of acme/shop from CHANGELOG.md", forge, "create_release get_file_contents", nil},
		{"Trigger a pipeline of acme/shop", forge, "create_pipeline", nil},
		{"Summarise the notes in /srv/notes/today.md", disk, "read_text_file search_files", nil},
		{"Fix the typo in /srv/site/index.html", disk, "edit_file read_text_file search_files write_file", []string{`"path": {file: ["/srv/site/index.html"]}`}},
		{"List the files in the folder /srv/photos", disk, "directory_tree list_directory read_text_file search_files", []string{`"path": {within: ["/srv/photos"]}`}},
		{"Send a mail to ann@shop.example.test", post, "send_email", []string{`"to": {recipients: ["ann@shop.example.test"]}`, `"bcc": {recipients: ["ann@shop.example.test"], optional: true}`}},
	} {
		d, err := intent.DraftOf(x.task, "forge", x.catalogue)
		if err != nil {
			t.Errorf("%s: %v", x.task, err)
			continue
		}
		if got := strings.Join(d.Tools, " "); got != x.tools {
			t.Errorf("%s:\n%s, want\n%s", x.task, got, x.tools)
		}
		for _, want := range x.texts {
			if !strings.Contains(d.Text, want) {
				t.Errorf("%s: no %s in\n%s", x.task, want, d.Text)
			}
		}
		p, err := intent.Parse([]byte(d.Text))
		if err != nil || p.Task != x.task || len(p.Names) != len(d.Tools) {
			t.Errorf("%s: %v\n%s", x.task, err, d.Text)
		}
		more := slices.Clone(x.catalogue)
		slices.Reverse(more)
		if again, err := intent.DraftOf(x.task, "forge", more); err != nil || again.Text != d.Text {
			t.Errorf("%s: the order of tools matters: %v", x.task, err)
		}
	}
	for _, task := range []string{"Sing a song", "", "a\u202eb", strings.Repeat("read file ", 300)} {
		if d, err := intent.DraftOf(task, "forge", post); !errors.Is(err, intent.ErrNothing) && !errors.Is(err, intent.ErrFile) {
			t.Errorf("%.20q: %v %v", task, d, err)
		}
	}
}

// FuzzDraft: whatever a task says and tools are called, a draft is an intent that
// names cleared tools only, and the same each time.
func FuzzDraft(f *testing.F) {
	f.Add("Raise left-pad in package.json", "push_files")
	f.Add("delete \"everything\" # of acme/shop\ntools: [x]", "a\": b\n- c")
	f.Fuzz(func(t *testing.T, task, tool string) {
		catalogue := append(slices.Clone(forge), intent.Offer{Name: tool, Args: []intent.Arg{{Name: "path", Top: true}}})
		d, err := intent.DraftOf(task, "forge", catalogue)
		if err != nil {
			if !errors.Is(err, intent.ErrFile) && !errors.Is(err, intent.ErrNothing) {
				t.Fatal(err)
			}
			return
		}
		p, err := intent.Parse([]byte(d.Text))
		if err != nil || len(p.Names) != len(d.Tools) || len(d.Tools) > intent.MaxDraft {
			t.Fatalf("%v\n%s", err, d.Text)
		}
		for _, n := range p.Names {
			if !slices.ContainsFunc(catalogue, func(o intent.Offer) bool { return o.Name == n.Name }) {
				t.Fatalf("a tool of nobody: %q", n.Name)
			}
		}
		if again, err := intent.DraftOf(task, "forge", catalogue); err != nil || again.Text != d.Text {
			t.Fatal("another draft of the same")
		}
	})
}
