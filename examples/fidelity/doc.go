// Package fidelity holds no code of the product. Its tests send a corpus of
// messages that are hard to carry unchanged through the gateway, on both
// transports and in both eras, and hold what arrives against what was sent.
package fidelity
