// Adaptive rewrites payloads until the inspector has nothing to say of them, and
// counts how many get that far.
//
//	go run ./examples/adaptive
//
// It is an attacker that knows the inspector and has it beside him, as anybody can:
// nothing is kept from a test that an attacker would have. What slips past is then
// put before the real gateway by the test of this folder, with an agent that obeys
// whatever it reads: the calls that come of it are refused by gate, tier and rules,
// which know nothing of wording.
package main

import (
	"os"

	"github.com/pratique-dev/pratique/quarantine/inspect"
)

func main() {
	ins := inspect.New()
	report(os.Stdout, ins.Engine(), attack(ins))
}
