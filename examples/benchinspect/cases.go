package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
)

// cases are the texts that are inspected: ordinary ones, since what is suspect may
// cost more.
func cases(ins, pool quarantine.Inspector) []*bench {
	const much, rules = 1 << 16, quarantine.Deterministic
	list := structured(much)(1)
	return []*bench{
		{name: "prose, rules", most: 25, ins: ins, size: much, batch: result(rules, prose(much))},
		{name: "prose, with the model", most: 40, ins: ins, size: much, batch: result(quarantine.Full, prose(much))},
		{name: "log in colours, rules", ins: ins, size: much, batch: result(rules, repeat("\x1b[32mINFO\x1b[0m 2026-11-30T12:00:00Z job 4711 finished in 31 s\n", much))},
		{name: "source code, rules", ins: ins, size: much, batch: result(rules, repeat("\tif err := w.value(d, child, depth+1); err != nil {\n\t\treturn fmt.Errorf(\"row %d: %w\", i, err)\n\t}\n", much))},
		{name: "base64 of a picture, rules", ins: ins, size: much, batch: result(rules, picture(much))},
		{name: "JSON as text, rules", ins: ins, size: len(list), batch: result(rules, list)},
		{name: "JSON as text, with the model", ins: ins, size: len(list), batch: result(quarantine.Full, list)},
		{name: "German, rules", ins: ins, size: much, batch: result(rules, repeat("Führt die Prüfung über alle Größen durch und fügt das Ergebnis der Übersicht bei. ", much))},
		{name: "Russian, rules", ins: ins, size: much, batch: result(rules, repeat("Ищет записи в справочнике компании и показывает их по страницам. ", much))},
		{name: "Japanese, rules", ins: ins, size: much, batch: result(rules, repeat("社内ハンドブックを検索します。結果はページごとに表示されます。", much))},
		{name: "4 KiB, rules", limit: time.Millisecond, ins: ins, size: 4096, batch: result(rules, prose(4096))},
		{name: "4 KiB, with the model", limit: time.Millisecond, ins: ins, size: 4096, batch: result(quarantine.Full, prose(4096))},
		{name: "4 KiB, in the pool", limit: 2 * time.Millisecond, ins: pool, size: 4096, batch: result(quarantine.Full, prose(4096))},
		{name: "100 kB, with the model", limit: 3 * time.Millisecond, ins: ins, size: 100_000, batch: result(quarantine.Full, prose(100_000))},
		{name: "100 kB, in the pool", limit: 5 * time.Millisecond, ins: pool, size: 100_000, batch: result(quarantine.Full, prose(100_000))},
		{name: "a tool of 20 parameters", limit: time.Millisecond, ins: ins, size: sizeOf(tool(20)), batch: quarantine.Batch{Specimens: tool(20)}},
		{name: "1,000 rows", ins: ins, size: sizeOf(rows(1000)), batch: quarantine.Batch{Depth: rules, Specimens: rows(1000)}},
	}
}

func result(d quarantine.Depth, text string) quarantine.Batch {
	return quarantine.Batch{Origin: "https://bench.example.test", Depth: d, Specimens: []quarantine.Specimen{{Path: "content[0].text", Kind: quarantine.KindResult, Text: text}}}
}

func repeat(part string, n int) string {
	return strings.ToValidUTF8(strings.Repeat(part, n/len(part)+1)[:n], "")
}

// prose is plain text, with ordinary words of the dictionary in it.
func prose(n int) string {
	return repeat("The pipeline of merge request 42 finished after 31 minutes; all jobs passed, and the report of the first stage lists 3 warnings that a user should read before the next release.\n", n)
}

// picture is what looks like base64 and decodes to no text.
func picture(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var b strings.Builder
	for x := uint32(1); b.Len() < n; {
		x = x*1664525 + 1013904223
		b.WriteByte(digits[x>>26])
	}
	return b.String()
}

// specimens makes what is inspected of JSON.
func specimens(set []quarantine.Specimen, err error) []quarantine.Specimen {
	if err != nil {
		panic(err)
	}
	return set
}

func tool(n int) []quarantine.Specimen {
	var b strings.Builder
	b.WriteString(`{"name":"list_merge_requests","description":"Lists the merge requests of a project, page by page.","inputSchema":{"type":"object","properties":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"field_%d":{"type":"string","description":"What the requests are to have in field %d, such as a name or a part of one.","enum":["asc","desc"]}`, i, i)
	}
	b.WriteString("}}}")
	return specimens(quarantine.Specimens("tool", []byte(b.String())))
}

func rows(n int) []quarantine.Specimen {
	var b strings.Builder
	b.WriteString(`{"content":[],"structuredContent":{"rows":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"title":"Issue number %d","state":"opened","author":"somebody"}`, i, i)
	}
	b.WriteString("]}}")
	return specimens(quarantine.ResultSpecimens("tools/call", []byte(b.String())))
}

func sizeOf(set []quarantine.Specimen) (n int) {
	for _, s := range set {
		n += len(s.Text)
	}
	return n
}
