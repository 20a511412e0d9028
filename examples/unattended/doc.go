// Package unattended is what an agent can do that is left alone with a real server
// and a sealed intent of a few tools: attacks that all work without Pratique, and the
// calls of its work. A Suite runs both against the server itself and behind the
// gateway, and holds what the server heard and what became of the world against what
// should.
package unattended
