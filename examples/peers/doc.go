// Package peers holds no code of the product. Its tests run real MCP servers,
// real clients and the official conformance suite through the gateway, and the
// same ones without it, and compare.
//
// They want a folder with the npm packages of npm/package-lock.json in it, named
// by PRATIQUE_NPM (`make npm` makes one), and are left out by name without it.
package peers
