package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pratique-dev/pratique/registry/vault"
)

func Example() {
	dir, err := os.MkdirTemp("", "vault")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "vault")
	master := make([]byte, vault.KeySize)
	v, err := vault.Open(dir, vault.Options{Key: master, Owner: "spool_1"})
	if err != nil {
		panic(err)
	}
	defer v.Close()
	at := time.Unix(1_800_000_000, 0)
	key, _ := vault.NewKey(nil)
	fmt.Println(v.Put(at, "call_1", &key, []byte(`{"path":"/tmp"}`)))
	got, err := vault.Get(dir, master, "spool_1", at, "call_1")
	fmt.Println(string(got.Data), err)
	fmt.Println(vault.Erase(dir, "spool_1", at, "call_1"))
	_, err = vault.Get(dir, master, "spool_1", at, "call_1")
	fmt.Println(err)
	// Output:
	// <nil>
	// {"path":"/tmp"} <nil>
	// <nil>
	// vault: erased
}
