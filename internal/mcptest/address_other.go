//go:build !unix

package mcptest

import "net"

// Keep is Address without a test. Here it finds a free port and cannot keep it.
func Keep() (address string, release func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	return l.Addr().String(), func() {}, l.Close()
}
