package mcptest

import (
	"net"
	"runtime"
	"testing"
)

// TestAddress: the port can be listened at again and again, and nobody is given it by
// chance, neither who listens nor who connects.
func TestAddress(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a kept port is a hope")
	}
	kept := map[string]bool{}
	for range 500 {
		kept[Address(t)] = true
	}
	for range 400 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if kept[l.Addr().String()] || kept[c.LocalAddr().String()] {
			t.Fatalf("a kept port was given away: %s, %s", l.Addr(), c.LocalAddr())
		}
	}
	address := Address(t)
	for range 3 {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := net.Listen("tcp", address); err == nil {
			t.Error("two listen at one address")
		}
		s.Close() // the server's end first, which leaves the port in TIME_WAIT
		l.Close()
		c.Close()
	}
}
