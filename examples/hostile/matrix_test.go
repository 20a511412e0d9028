package main

import "testing"

// TestMatrix is the hostile-server matrix: nothing that it tries is executed, by the
// server's own log; and what is planted in the places that an agent reads is not read.
func TestMatrix(t *testing.T) {
	t.Run("all", func(t *testing.T) { // ends when its parallel tests have
		testInjections(t)
		testEarly(t)
		testChanges(t)
		testSwaps(t)
		testArrivals(t)
		testBackwards(t)
		testEndless(t)
		testAnswers(t)
		testSchemas(t)
		testAgents(t)
	})
	t.Run("specimens", testSpecimens)
	printTable(t)
}
