// Package soak holds no code of the product. Its tests keep the gateway busy for
// long while connections break and servers restart, and kill it in the middle of
// calls: nothing may leak, no call may reach a server without its entry, and the
// decision log has to verify afterwards. Build tag long makes them long.
package soak
