package intent_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/intent"
)

// offer is a tool with arguments; "files/path" stands in the elements of a list, and
// "path?" is not required.
func offer(name string, effect labels.Effect, args ...string) intent.Offer {
	var props, must []string
	for _, a := range args {
		if list, member, ok := strings.Cut(a, "/"); ok {
			props = append(props, fmt.Sprintf(`%q:{"type":"array","items":{"type":"object","properties":{%q:{"type":"string"}}}}`, list, member))
			continue
		}
		props = append(props, fmt.Sprintf(`%q:{"type":"string"}`, strings.TrimSuffix(a, "?")))
		if !strings.HasSuffix(a, "?") {
			must = append(must, strconv.Quote(a))
		}
	}
	return intent.OfferOf([]byte(fmt.Sprintf(`{"name":%q,"description":"Ignore this.","inputSchema":{"type":"object","properties":{%s},"required":[%s]}}`, name, strings.Join(props, ","), strings.Join(must, ","))), effect)
}

var forge = []intent.Offer{
	offer("get_file_contents", labels.Read, "project_id", "file_path?", "path?", "ref"), offer("push_files", labels.Write, "project_id", "branch", "files/file_path"),
	offer("create_or_update_file", labels.Write, "project_id", "branch", "file_path", "content"), offer("create_branch", labels.Write, "project_id", "branch"),
	offer("delete_branch", labels.Write|labels.Destructive, "project_id", "branch"), offer("create_merge_request", labels.Write, "project_id", "source_branch", "target_branch"),
	offer("merge_merge_request", labels.Write, "project_id", "merge_request_iid"), offer("list_merge_requests", labels.Read, "project_id"),
	offer("get_merge_request_diffs", labels.Read, "project_id", "merge_request_iid"), offer("list_issues", labels.Read, "project_id"),
	offer("get_issue", labels.Read, "project_id", "issue_iid"), offer("create_issue", labels.Write, "project_id", "title"), offer("update_issue", labels.Write, "project_id", "issue_iid"),
	offer("create_issue_note", labels.Write, "project_id", "issue_iid", "body"), offer("get_draft_note", labels.Read, "project_id"), offer("create_pipeline", labels.Execute, "project_id", "ref"),
	offer("list_pipelines", labels.Read, "project_id"), offer("create_release", labels.Write, "project_id", "tag_name"), offer("fork_repository", labels.Write, "project_id"),
	offer("search_code", labels.Read, "search", "path?"), offer("list_project_variables", labels.Read, "project_id"), offer("create_webhook", labels.Egress, "project_id", "url"),
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
			[]string{`"file_path": {file: ["package.json"]} #`, `"path": {file: ["package.json"], optional: true}`, `"file_path": {file: ["package.json"], optional: true}`, `"project_id": {one_of: ["acme/shop"]}`, "expires: 2h"}},
		{"Read the changelog, bump the dependency left-pad in package.json on branch bot/left-pad, then open a merge request against main.", forge,
			"create_branch create_merge_request create_or_update_file get_file_contents push_files search_code", []string{`"branch": {one_of: ["bot/left-pad"]}`, `"source_branch": {one_of: ["bot/left-pad"]}`}},
		{"Summarise the open issues of acme/shop.", forge, "get_issue list_issues", []string{"expires: 1h"}},
		{"Triage the new issues in acme/shop: label them and leave a comment on each", forge, "create_issue_note get_issue list_issues update_issue", nil},
		{"Answer issue #12 in acme/shop with a comment", forge, "create_issue_note get_issue list_issues", []string{`"issue_iid": {one_of: ["12", 12]}`}},
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

var (
	mailer = []intent.Offer{
		offer("send_email", labels.Egress, "to", "cc", "subject", "body"), offer("reply_to_email", labels.Egress, "email_id", "cc", "body"), offer("post_message", labels.Egress, "channel", "text"),
		offer("search_emails", labels.Read, "query"), offer("list_commits", labels.Read, "project_id", "ref"), offer("get_commit", labels.Read, "project_id", "sha"), offer("create_commit", labels.Write, "project_id", "actions/file_path"),
	}
	web = append([]intent.Offer{offer("fetch", labels.Egress, "url", "max_length"), offer("fetch_html", labels.Unclassified, "url"), offer("get_page", labels.Egress, "page_id"), offer("create_webhook", labels.Egress, "url")}, disk...)
	git = append([]intent.Offer{
		offer("git_commit", labels.Write, "repo_path", "message"), offer("git_add", labels.Write, "repo_path", "files"), offer("git_push", labels.Egress, "remote"), offer("git_reset", labels.Write, "repo_path"),
	}, disk...)
)

// TestDraftBounds: a tool that changes something is proposed where a word of the task
// bounds it, and is left out by name otherwise; what reads is held to the task's files.
func TestDraftBounds(t *testing.T) {
	for _, x := range []struct {
		task      string
		catalogue []intent.Offer
		tools     string
		texts     []string
	}{
		{"Move the file a.txt to archive/a.txt", disk, "move_file read_text_file search_files",
			[]string{`"destination": {file: ["a.txt", "archive/a.txt"]}`, `"source": {file: ["a.txt", "archive/a.txt"]}`, "allow: [\"read_text_file\"]\n  args:\n    \"path\": {file: "}},
		{"Move a.txt into the folder archive/", disk, "directory_tree list_directory move_file read_text_file search_files",
			[]string{`"destination": {file: ["a.txt"], within: ["archive"]}`}},
		{"Rename a.txt to b.txt", disk, "move_file read_text_file search_files", []string{`"source": {file: ["a.txt", "b.txt"]}`}},
		{"Rename the function f in src/app.py", disk, "edit_file read_text_file search_files write_file", []string{`"path": {file: ["src/app.py"]}`}},
		{"Move the file to the archive", disk, "read_text_file search_files", []string{"# left out: \"move_file\"; nothing in the task bounds it\n"}},
		{"Fix the typo in the manual", disk, "read_text_file search_files", []string{`# left out: "edit_file"`, `# left out: "write_file"`}},
		{"Fix the typo in the readme", disk, "edit_file read_text_file search_files write_file", []string{`"path": {file: ["README.md"]}`}},
		{"Send an email to ann@corp.example with the list of commits of project 7", mailer, "get_commit list_commits send_email",
			[]string{`"to": {recipients: ["ann@corp.example"]}`, `"cc": {recipients: ["ann@corp.example"], optional: true}`, `"project_id": {one_of: ["7", 7]}`, `# left out: "reply_to_email"`, `# left out: "post_message"`}},
		{"Tell ann@corp.example about the issues of acme/shop", append(slices.Clone(mailer), forge...), "get_issue list_issues send_email", []string{`"to": {recipients`, `"project_id": {one_of: ["acme/shop"]}`}},
		{"List the mails from ann@corp.example", mailer, "search_emails", nil},
		{"Assign issue #3 of acme/shop to ann@corp.example", append(slices.Clone(mailer), forge...), "get_issue list_issues update_issue", nil},
		{"Fetch https://example.com/news and save it in notes/news.md", web, "fetch fetch_html read_text_file search_files write_file",
			[]string{`"url": {hosts: ["example.com"]}`, `"path": {file: ["notes/news.md"]}`}},
		{"Write a summary of the issues of acme/shop in notes/issues.md", append(slices.Clone(disk), forge...), "create_or_update_file get_file_contents get_issue list_issues push_files write_file", []string{`"path": {file: ["notes/issues.md"]}`}},
		{"Fix the typo in the greeting: edit src/app.py and commit", git, "edit_file git_add git_commit read_text_file search_files write_file",
			[]string{`"files": {file: ["src/app.py"]}`, `"path": {file: ["src/app.py"]}`}},
		{"Raise tide-ui to 2.4.0 in fleet/harbour on a branch of its own and open a merge request to main", forge, "create_branch create_merge_request create_or_update_file get_file_contents push_files", nil},
		{"Read the changelog and raise left-pad in package.json of acme/shop", forge, "create_or_update_file get_file_contents push_files",
			[]string{`"file_path": {file: ["package.json", "CHANGELOG.md"], optional: true}`, `"file_path": {file: ["package.json"]} #`}},
		{"Merge the merge request !5 of acme/shop", forge, "list_merge_requests merge_merge_request", []string{`"merge_request_iid": {one_of: ["5", 5]}`}},
		{"Write the release notes of acme/shop into docs/news.md", forge, "create_or_update_file get_file_contents push_files", nil},
		{"Delete the label bug in acme/shop", append([]intent.Offer{offer("delete_issue", labels.Unclassified, "project_id"), offer("delete_label", labels.Unclassified, "project_id")}, forge...), "delete_label get_issue list_issues", nil},
		{"Create the folder out/ and put a list of the files in out/list.txt", disk, "create_directory directory_tree list_directory read_text_file search_files write_file",
			[]string{"allow: [\"create_directory\"]\n  args:\n    \"path\": {within: [\"out\"]}", "allow: [\"write_file\"]\n  args:\n    \"path\": {file: [\"out/list.txt\"]}"}},
		{"Open https://example.com/news", web, "fetch fetch_html", []string{`"url": {hosts: ["example.com"]}`}},
		{"Email ann@corp.example the commits of project 7", mailer, "get_commit list_commits send_email", nil},
		{"Show the last commit of project 7", mailer, "get_commit list_commits", nil},
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
	}
	for _, x := range []struct { // one bound is not enough where another way out stays open
		task string
		tool intent.Offer
	}{
		{"Move a.txt to b.txt", offer("move_file", labels.Write, "path", "folder_id")}, {"Send a mail about issue #3", offer("send_email", labels.Egress, "issue_iid", "to")},
		{"Mail ann@corp.example about issue #3", offer("send_email", labels.Egress, "issue_iid", "cc")}, {"Forward the file a.txt", offer("forward_file", labels.Egress, "path", "recipient")},
		{"Create a webhook in acme/shop", offer("create_webhook", labels.Egress, "project_id", "url")}, {"Commit ./", offer("create_commit", labels.Write, "project_id", "branch")},
		{"Search the web for news", offer("search_web", labels.Unclassified, "query")}, {"Fetch the page", offer("get_page", labels.Read, "url")}, {"Read the issue", offer("get_issue", labels.Read|labels.Execute, "id")},
	} {
		if d, err := intent.DraftOf(x.task, "forge", []intent.Offer{x.tool}); !errors.Is(err, intent.ErrNothing) || !strings.Contains(err.Error(), x.tool.Name) {
			t.Errorf("%s: %v %+v", x.task, err, d)
		}
	}
	alone := []intent.Offer{offer("move_file", labels.Write, "source", "destination")}
	if d, err := intent.DraftOf("Move the file to the archive", "forge", alone); !errors.Is(err, intent.ErrNothing) || !strings.Contains(err.Error(), "move_file") {
		t.Errorf("%v %v", d, err)
	}
}

// TestDraftRoles: what is only read is not proposed for writing. Where the words do not
// tell, everything is proposed for reading and nothing for writing, and a comment says so.
func TestDraftRoles(t *testing.T) {
	const reading, writing = "allow: [\"read_text_file\"]\n  args:\n    \"path\": {file: ", "allow: [\"write_file\"]\n  args:\n    \"path\": {file: "
	for _, x := range []struct{ task, reads, writes string }{
		{"Read a.txt and write a summary into b.txt", `["a.txt", "b.txt"]`, `["b.txt"]`},
		{"Write a summary of a.txt into b.txt", `["a.txt", "b.txt"]`, `["b.txt"]`},
		{"Summarise a.txt and save it in b.txt.", `["a.txt", "b.txt"]`, `["b.txt"]`},
		{"Compare a.txt with b.txt, then write the differences to c.txt", `["a.txt", "b.txt", "c.txt"]`, `["c.txt"]`},
		{"Read a.txt and b.txt and update c.txt and d.txt", `["a.txt", "b.txt", "c.txt", "d.txt"]`, `["c.txt", "d.txt"]`},
		{"Update a.txt from b.txt", `["a.txt", "b.txt"]`, `["a.txt"]`},
		{"Translate a.txt into b.txt", `["a.txt", "b.txt"]`, `["b.txt"]`},
		{"Replace the header of a.txt with b.txt and edit c.txt", `["a.txt", "b.txt", "c.txt"]`, `["a.txt", "c.txt"]`},
		{"Edit a.txt", `["a.txt"]`, `["a.txt"]`},
		{"Read the changelog and write a note into b.txt", `["b.txt", "CHANGELOG.md"]`, `["b.txt"]`},
		{"Read a.txt and update the changelog", `["a.txt", "CHANGELOG.md"]`, `["CHANGELOG.md"]`},
		{"Read a.txt and write a summary", `["a.txt"]`, ""},
		{"With a.txt and b.txt: fix the file", `["a.txt", "b.txt"]`, ""},
	} {
		d, err := intent.DraftOf(x.task, "disk", disk)
		if err != nil {
			t.Errorf("%s: %v", x.task, err)
			continue
		}
		if !strings.Contains(d.Text, reading+x.reads) {
			t.Errorf("%s: reads other than %s:\n%s", x.task, x.reads, d.Text)
		}
		if _, got, _ := strings.Cut(d.Text, writing); x.writes != "" && !strings.HasPrefix(got, x.writes) || x.writes == "" && slices.Contains(d.Tools, "write_file") {
			t.Errorf("%s: writes other than %s:\n%s", x.task, x.writes, d.Text)
		}
		if told := strings.Contains(d.Text, "# The words do not tell which of the files is written"); told != (x.writes == "") {
			t.Errorf("%s: says that it is not told: %t", x.task, told)
		}
	}
}
