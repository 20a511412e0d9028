package node_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/node"
)

func TestConfigRefusesByName(t *testing.T) {
	good := node.Config{Data: "x"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*node.Config){
		"no data":              func(c *node.Config) { c.Data = "" },
		"listen":               func(c *node.Config) { c.Listen = "7420" },
		"beyond loopback":      func(c *node.Config) { c.Listen = "0.0.0.0:7420" },
		"external with path":   func(c *node.Config) { c.External = "https://reg.example/x" },
		"external in capitals": func(c *node.Config) { c.External = "https://Reg.example" },
		"external http":        func(c *node.Config) { c.External = "http://reg.example" },
		"registration":         func(c *node.Config) { c.Registration = "everybody" },
		"prefix":               func(c *node.Config) { c.Fetch.AllowPrivate = []string{"10.0.0.0"} },
		"witness":              func(c *node.Config) { c.Ledger.Witnesses = []node.WitnessConf{{URL: "https://w.example"}} },
		"role":                 func(c *node.Config) { c.Keys.Algorithms = map[string]string{"everything": "EdDSA"} },
		"alg":                  func(c *node.Config) { c.Keys.Algorithms = map[string]string{"handle": "RS256"} },
		"log format":           func(c *node.Config) { c.Log.Format = "xml" },
		"log level":            func(c *node.Config) { c.Log.Level = "loud" },
		"admin":                func(c *node.Config) { c.Admin = "on" },
		"sandbox":              func(c *node.Config) { c.Inspector.Sandbox = "some" },
		"workers":              func(c *node.Config) { c.Inspector.Workers = 65 },
		"workers below none":   func(c *node.Config) { c.Inspector.Workers = -1 },
		"deadline":             func(c *node.Config) { c.Inspector.Deadline = time.Hour },
		"no deadline":          func(c *node.Config) { c.Inspector.Deadline = time.Millisecond },
		"memory":               func(c *node.Config) { c.Inspector.MemoryMiB = 16 },
		"cache":                func(c *node.Config) { c.Inspector.Cache = -2 },
		"model":                func(c *node.Config) { c.Inspector.Model.Name = "x" },
		"model far away":       func(c *node.Config) { c.Inspector.Model.URL, c.Inspector.Model.Name = "https://model.example/v1", "x" },
	} {
		c := good
		change(&c)
		if err := c.Check(); !errors.Is(err, node.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
