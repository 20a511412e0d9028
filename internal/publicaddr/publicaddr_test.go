package publicaddr_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/pratique-dev/pratique/internal/publicaddr"
)

func ExamplePublic() {
	fmt.Println(publicaddr.Public(netip.MustParseAddr("93.184.216.34")), publicaddr.Public(netip.MustParseAddr("169.254.169.254")))
	// Output: true false
}

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"1.1.1.1": true, "172.32.0.1": true, "2606:4700::1111": true, "192.0.3.1": true,
		"10.0.0.1": false, "127.8.8.8": false, "172.31.255.255": false, "100.64.0.1": false, "192.0.0.192": false, "255.255.255.255": false, "0.0.0.0": false,
		"::1": false, "::ffff:1.1.1.1": false, "64:ff9b::1.1.1.1": false, "fe80::1": false, "fd00::1": false, "2002:0a00:1::": false, "2001:db8::1": false, "ff02::1": false,
		"2606:4700::1111%eth0": false,
	} {
		if got := publicaddr.Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if publicaddr.Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}
