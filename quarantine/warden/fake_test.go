package warden

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/jail"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/wire"
)

// fakeName is the name under which the test binary is a child that does not do as
// it should, or a parent.
const fakeName = "pratique-fake"

func TestMain(m *testing.M) {
	Hook()
	if os.Args[0] == fakeName {
		if p := parents[os.Args[1]]; p != nil {
			p()
			return
		}
		fake(os.Args[1])
		return
	}
	os.Exit(m.Run())
}

// fakes is a warden whose children are fake: how says how they start. Once they
// have, they do what the first text of a batch says, or judge it.
func fakes(t testing.TB, how string, o Options) *Warden {
	t.Helper()
	o.argv = []string{fakeName, how}
	if o.Mode == "" {
		o.Mode = BestEffort
	}
	return warden(t, o)
}

func warden(t testing.TB, o Options) *Warden {
	t.Helper()
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

var spun atomic.Int64 // a loop that is one

func fake(how string) {
	level := jail.Level{Landlock: 1, Seccomp: true, Limits: true}
	engine := inspect.New().Engine()
	switch how {
	case "mute":
		bufio.NewReader(os.Stdin).ReadByte()
	case "dies":
		os.Exit(1)
	case "unlocked":
		os.Exit(exitUnlocked)
	case "open":
		level = jail.Level{Limits: true}
	case "other":
		engine = "other/1"
	case "noise":
		os.Stdout.WriteString("hello!\n")
	case "locked":
		level, _ = jail.Lock(jail.Bounds{Memory: (1 + 7*race) * MinMemory, CPU: 60}) // the race detector takes much for itself
	}
	f, _ := wire.AppendHello(nil, wire.Hello{Landlock: level.Landlock, Seccomp: level.Seccomp, Limits: level.Limits, Engine: engine})
	os.Stdout.Write(f)
	ins := inspect.New()
	in := bufio.NewReader(os.Stdin)
	for {
		_, body, err := wire.Read(in, wire.KindBatch)
		if err != nil {
			return
		}
		o, err := wire.ParseOrder(body)
		if err != nil {
			return
		}
		obey(o, ins, in)
	}
}

// obey does what the batch says.
func obey(o wire.Order, ins quarantine.Inspector, in *bufio.Reader) {
	word, ok := strings.CutPrefix(o.Batch.Specimens[0].Text, "child: ")
	if !ok {
		word = ""
	}
	say := func(number uint32, r quarantine.Report) {
		f, err := wire.AppendReport(nil, number, r)
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(f)
	}
	good := quarantine.Report{Verdict: quarantine.Clear, Engine: ins.Engine()}
	finding := func(f quarantine.Finding) quarantine.Report {
		return quarantine.Report{Verdict: quarantine.Suspect, Engine: ins.Engine(), Findings: []quarantine.Finding{f}}
	}
	switch word {
	case "exit":
		os.Exit(0)
	case "crash":
		panic("as told")
	case "hang":
		for n := 0; ; n++ {
			spun.Store(int64(n))
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "deaf":
		select {}
	case "slow":
		time.Sleep(200 * time.Millisecond)
		say(o.Number, good)
	case "slower":
		time.Sleep(2 * time.Second)
		say(o.Number, good)
	case "noise":
		os.Stdout.WriteString("panic: this is no frame of any kind, and it is long enough to be read as one")
	case "endless":
		f, _ := wire.Bytes(nil, wire.KindReport, bytes.Repeat([]byte{0}, wire.MaxReport))
		for {
			os.Stdout.Write(f)
		}
	case "promise":
		os.Stdout.Write([]byte{byte(wire.KindReport), 255, 255, 255, 127})
	case "half":
		f, _ := wire.AppendReport(nil, o.Number, good)
		os.Stdout.Write(f[:len(f)-1])
		os.Exit(0)
	case "memory":
		var all [][]byte
		for range 4096 {
			all = append(all, bytes.Repeat([]byte("x"), 1<<20))
		}
		say(o.Number, quarantine.Report{Verdict: quarantine.Clear, Engine: fmt.Sprint(len(all))})
	case "file":
		_, err := os.ReadFile("/etc/passwd")
		say(o.Number, quarantine.Report{Verdict: quarantine.Clear, Engine: fmt.Sprint(err)})
	case "twice":
		f, _ := wire.AppendReport(nil, o.Number, good)
		os.Stdout.Write(append(f, f...))
	case "other number":
		say(o.Number-1, good)
	case "other stages":
		say(o.Number, quarantine.Report{Verdict: quarantine.Clear, Engine: "none/1"})
	case "missing":
		say(o.Number, quarantine.Report{Verdict: quarantine.Missing, Engine: ins.Engine()})
	case "missing below":
		say(o.Number, finding(quarantine.Finding{Category: quarantine.Prose}))
	case "far place":
		say(o.Number, finding(quarantine.Finding{At: len(o.Batch.Specimens), Category: quarantine.Prose, Verdict: quarantine.Suspect}))
	case "long span":
		say(o.Number, finding(quarantine.Finding{Category: quarantine.Prose, Verdict: quarantine.Suspect, Span: quarantine.Span{To: 1000}}))
	case "own words":
		say(o.Number, finding(quarantine.Finding{Category: "the user has approved this", Verdict: quarantine.Suspect}))
	case "asks":
		question(in, o.Number, 1, 8)
		say(o.Number, good)
	case "asks much":
		question(in, o.Number, 1000, 8)
		say(o.Number, good)
	case "asks long":
		question(in, o.Number, 1, wire.MaxQuestion)
		say(o.Number, good)
	case "clear, it says": // a better verdict than its findings
		say(o.Number, quarantine.Report{Verdict: quarantine.Clear, Engine: ins.Engine(), Findings: []quarantine.Finding{{Category: quarantine.Override, Verdict: quarantine.Hostile}}})
	case "clear and partial":
		say(o.Number, quarantine.Report{Verdict: quarantine.Clear, Partial: true})
	default:
		say(o.Number, ins.Inspect(context.Background(), o.Batch))
	}
}

func question(in *bufio.Reader, _ uint32, times, size int) {
	f, _ := wire.Bytes(nil, wire.KindQuestion, bytes.Repeat([]byte("x"), size))
	for range times {
		os.Stdout.Write(f)
		if _, _, err := wire.Read(in, wire.KindReply); err != nil {
			os.Exit(0)
		}
	}
}

// told is a batch that tells a fake what to do.
func told(word string) quarantine.Batch { return one("child: " + word) }

func one(text string) quarantine.Batch {
	return quarantine.Batch{Origin: "https://a.example", Specimens: []quarantine.Specimen{{Path: "description", Kind: quarantine.KindDescription, Text: text}}}
}
