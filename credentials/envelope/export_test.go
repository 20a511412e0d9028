package envelope

// OpenUnder is the call of go-jose, for vectors whose headers are not ours.
var OpenUnder = open

// OnEd25519 is the test that a point lies on the curve.
var OnEd25519 = onEd25519
