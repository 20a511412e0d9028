//go:build !long

package policy_test

const policies = 200 // with the tag long 1,000
