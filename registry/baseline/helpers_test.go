package baseline_test

import (
	"crypto/rand"
	"io"
)

func rnd() io.Reader { return rand.Reader }
