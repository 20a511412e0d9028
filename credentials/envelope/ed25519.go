package envelope

import (
	"crypto/ed25519"
	"math/big"
	"slices"
)

// The y coordinates of the points of order 1, 2, 4 and 8, little-endian,
// canonical, without the sign of x. Under such a key a signature can be made
// that verifies for any message.
var lowOrderY = [5][32]byte{
	{},
	{0x01},
	{0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
		0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
	{0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
		0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
	{0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
}

// strongEd25519 reports whether the bytes are 32, hold y < p (RFC 8032 section
// 5.1.3: the one encoding) and are no point of low order.
func strongEd25519(p []byte) bool {
	if len(p) != ed25519.PublicKeySize {
		return false
	}
	var y [32]byte
	copy(y[:], p)
	y[31] &= 0x7f
	if slices.Contains(lowOrderY[:], y) {
		return false
	}
	return y[0] < 0xed || y[31] != 0x7f || slices.ContainsFunc(y[1:31], func(b byte) bool { return b != 0xff })
}

var (
	fieldP, _ = new(big.Int).SetString("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed", 16)
	curveD, _ = new(big.Int).SetString("52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3", 16)
	one       = big.NewInt(1)
)

// onEd25519 reports whether y belongs to a point: x² = (y²-1)/(dy²+1) has a
// root, which is when its Jacobi symbol is not -1 (the denominator is never 0).
func onEd25519(p ed25519.PublicKey) bool {
	le := slices.Clone(p)
	le[31] &= 0x7f
	slices.Reverse(le)
	yy := new(big.Int).SetBytes(le)
	yy.Mul(yy, yy).Mod(yy, fieldP)
	u := new(big.Int).Sub(yy, one)
	v := yy.Mul(yy, curveD)
	v.Add(v, one)
	// u/v and u·v are squares together.
	return big.Jacobi(u.Mul(u, v).Mod(u, fieldP), fieldP) != -1
}
