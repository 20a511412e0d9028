package storetest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

func ExampleTree() {
	var t storetest.Tree
	t.Add([]byte("entry"))
	fmt.Println(t.Head().Size, t.Head().Root == sha256.Sum256([]byte("\x00entry")))
	// Output: 1 true
}

// The roots of the well-known test tree of certificate-transparency-go
// (leaves "", 00, 10, 2021, 3031, 40414243, 5051..57, 6061..6f).
func TestTreeRoots(t *testing.T) {
	leaves := []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}
	roots := []string{
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	}
	var tree storetest.Tree
	for i, want := range roots {
		h := tree.Head()
		if got := hex.EncodeToString(h.Root[:]); got != want || h.Size != uint64(i) {
			t.Errorf("size %d: %s", i, got)
		}
		if i < len(leaves) {
			b, _ := hex.DecodeString(leaves[i])
			tree.Add(b)
		}
	}
	if new(storetest.Tree).Head() != store.EmptyHead() {
		t.Error("empty tree")
	}
}
