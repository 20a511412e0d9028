package main

import (
	_ "embed"
	"fmt"
)

//go:embed completion/bash.sh
var completeBash string

//go:embed completion/zsh.sh
var completeZsh string

//go:embed completion/fish.fish
var completeFish string

func completionNoun() noun {
	return noun{name: "completion", usage: "print a completion script: bash, zsh or fish", verbs: []verb{{
		usage: "print a completion script: bash, zsh or fish", args: "SHELL",
		about: "bash: source <(pratique completion bash). zsh: the same with zsh, after compinit. fish: pratique completion fish | source.",
		run:   complete,
	}}}
}

func complete(c *call) (any, error) {
	scripts := map[string]string{"bash": completeBash, "zsh": completeZsh, "fish": completeFish}
	s, ok := scripts[c.args[0]]
	if !ok {
		return nil, usagef("no completion for %q; there is bash, zsh and fish", c.args[0])
	}
	fmt.Fprint(c.out, s)
	return nil, nil
}
