// Package vectors holds no code of the product. Its tests drive the decision
// vectors of labels/policy through the whole gateway, over stdio and HTTP and in
// both eras, and want what the vectors say each time: the same decision, reason and
// rule, the same entries in the decision log, and the same answer to the agent.
package vectors
