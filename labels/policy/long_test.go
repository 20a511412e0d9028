//go:build long

package policy_test

const policies = 1000
