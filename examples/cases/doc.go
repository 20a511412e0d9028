// Package cases tests the gateway against what went wrong in other products: cases
// of public reports, retold, each with what a gateway must do and with a control that
// must go on to work. A test is named after its case. Each runs the built binary
// between a scripted server and a raw agent, on both transports and in both eras of
// the protocol; what reached the server is read from the server's own log.
package cases
