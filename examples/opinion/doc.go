// Package opinion holds no code of the product. Its test runs the built gateway with
// a language model on loopback that finds what no rule finds, is steered, and goes
// down: what it raises is withheld from the agent, and nothing that it says reaches
// anybody.
package opinion
