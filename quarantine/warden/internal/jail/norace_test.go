//go:build !race

package jail

const race = 0
