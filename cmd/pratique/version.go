package main

import (
	"io"
	"runtime"
	"runtime/debug"
)

func versionNoun() noun {
	return noun{name: "version", usage: "show what this binary is", verbs: []verb{{
		usage: "show what this binary is", out: versionOutput{},
		run: func(*call) (any, error) { return buildVersion(), nil },
	}}}
}

// versionOutput is what this binary is.
type versionOutput struct {
	Version  string `json:"version" doc:"module version, or (devel)"`
	Revision string `json:"revision,omitzero" doc:"commit"`
	Modified bool   `json:"modified,omitzero" doc:"built from a changed tree"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (o versionOutput) show(w io.Writer) {
	pairs(w, "pratique", o.Version, "commit", o.Revision, "go", o.Go, "platform", o.Platform)
}

func buildVersion() versionOutput {
	o := versionOutput{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return o
	}
	if b.Main.Version != "" {
		o.Version = b.Main.Version
	}
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			o.Revision = s.Value
		case "vcs.modified":
			o.Modified = s.Value == "true"
		}
	}
	return o
}
