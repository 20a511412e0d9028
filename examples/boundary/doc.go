// Package boundary holds no code of the product. Its tests put sealing, reading,
// calling, widening, restarts, reconnects, changes of era and further agents into many
// orders, through the built binary over HTTP and stdio, and find none in which an
// intent is sealed, replaced or widened after its agent was first heard (RULES.md 32).
package boundary
