package keyset

// OpenUnder is the call of jwx, for vectors whose headers are not ours.
var OpenUnder = open
