// Package residue holds no code of the product. Its tests run the built gateway as
// people do, and take away what an agent has read results of: the tool is revoked or
// condemned, leaves the list, or its server goes. However the agent comes back, it
// does nothing more out of that context until a person has cleared it.
package residue
