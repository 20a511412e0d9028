package gate_test

import (
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

func Example() {
	now := time.Unix(1_800_000_000, 0)
	var zero gate.Row
	fmt.Println(zero.Tier(now))

	row := gate.Row{Live: true, Standing: labels.Attested, Content: labels.Inspected, Attested: now.Unix() + 3600}
	fmt.Println(row.Tier(now), row.Tier(now.Add(time.Hour))) // the topology expires in between
	row.Withheld = true
	fmt.Println(row.Tier(now))
	// Output:
	// red
	// green yellow
	// red
}
