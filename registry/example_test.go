package registry_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/registry"
)

func Example() {
	e, err := registry.NewEvent(registry.OriginCondemned, 1_800_000_000_000, "0123456789abcdef", "",
		registry.ReasonData{Origin: "https://shop.example", Reason: "taken over"})
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, _ := e.Encode()
	fmt.Printf("%s\n", raw)
	back, err := registry.ParseEvent(raw)
	fmt.Println(back.Type, err)
	_, err = registry.ParseEvent([]byte(`{"v":1,"type":"origin.condemned","Type":"tool.released"}`))
	fmt.Println(err != nil)
	// Output:
	// {"v":1,"type":"origin.condemned","at":1800000000000,"cmd":"0123456789abcdef","data":{"origin":"https://shop.example","reason":"taken over"}}
	// origin.condemned <nil>
	// true
}
