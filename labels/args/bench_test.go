package args_test

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
)

// kilobyte are arguments as an agent sends them to a repository.
var kilobyte = []byte(`{"project_id":"group/project","branch":"feature/login","commit_message":"Add the form and its test","actions":[` +
	`{"action":"create","file_path":"src/login/form.ts","content":"` + strings.Repeat(`export const a = 1;\n`, 20) + `","encoding":"text"},` +
	`{"action":"update","file_path":"src/login/form.test.ts","content":"` + strings.Repeat(`expect(a).toBe(1);\n`, 12) + `","encoding":"text","last_commit_id":null}],` +
	`"start_branch":"develop","force":false,"author_email":"agent@example.test","author_name":"Agent","stats":true,"limit":9007199254740993}`)

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(kilobyte)))
	b.ReportAllocs()
	for b.Loop() {
		t, err := args.Parse(kilobyte)
		if err != nil {
			b.Fatal(err)
		}
		t.Release()
	}
}

func BenchmarkWalk(b *testing.B) {
	b.ReportAllocs()
	t, err := args.Parse(kilobyte)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		t.Root().Walk(func(v args.Value) bool { n += len(v.Name()); return true })
	}
}
