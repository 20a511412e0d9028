// Package authority holds no code of the product. Its tests try every MCP method,
// every HTTP route and the command line with nothing but an agent's credential, and
// find none that grants, widens, approves, disables or reads another agent's; and
// they look for a way to shed a run, and find none either.
package authority
