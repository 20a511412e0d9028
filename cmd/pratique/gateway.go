package main

// The folders of a gateway in a data folder.
const (
	surfaceFolder = "surface"
	runsFolder    = "runs"
)
