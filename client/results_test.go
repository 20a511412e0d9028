package client_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/runs"
)

// TestConfirmDeleted: an agent's runtime that the operator enrolled as an observer
// takes what it deleted out of a run's context.
func TestConfirmDeleted(t *testing.T) {
	ctx := context.Background()
	n := startNode(t, node.Config{Data: filepath.Join(t.TempDir(), "data")})
	operator, runtime := nodeActor(t, n, n.OperatorKeyFile()), newNodeActor(t, n)
	if _, err := runtime.CreatePrincipal(ctx, nil); err != nil {
		t.Fatal(err)
	}
	s, err := n.Runs()
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := s.Current("agt_01J00000000000000000000000", "personal")
	if err != nil {
		t.Fatal(err)
	}
	const result = "res_01J00000000000000000000000"
	if err := run.Deliver(ctx, runs.Source{Origin: nodeSite, Kind: runs.KindTool, Name: "pay"}, runs.Result{ID: result}); err != nil {
		t.Fatal(err)
	}
	if err := run.End(ctx, []runs.End{{Why: runs.WhyRevoked}}, func(runs.Withdrawn) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.ConfirmDeleted(ctx, run.ID(), []string{result}); client.Code(err) != "not_observer" {
		t.Errorf("not enrolled: %v", err)
	}
	if err := runtime.FollowWithdrawn(ctx, nil); client.Code(err) != "not_observer" {
		t.Errorf("not enrolled, and it follows: %v", err)
	}
	if v, err := operator.EnrolObserver(ctx, runtime.ID()); err != nil || !v.Observer {
		t.Fatal(v, err)
	}
	following, stop := context.WithTimeout(ctx, time.Minute)
	var heard registry.WithdrawalEvent
	if err := runtime.FollowWithdrawn(following, func(kind string, e registry.WithdrawalEvent) { heard = e; stop() }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if heard.Run != run.ID() || !slices.Equal(heard.Results, []string{result}) || heard.Why != runs.WhyRevoked {
		t.Errorf("%+v", heard)
	}
	for _, bad := range []string{"", "agt_1", "run_/x"} {
		if _, err := runtime.ConfirmDeleted(ctx, bad, []string{result}); !errors.Is(err, client.ErrRun) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	got, err := runtime.ConfirmDeleted(ctx, run.ID(), []string{result})
	if err != nil || got.Run != run.ID() || !slices.Equal(got.Results, []string{result}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := run.Record(ctx, func(runs.Cleared) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if v, err := run.Look(); err != nil || len(v.Withdrawn()) != 0 {
		t.Errorf("%+v %v", v, err)
	}
	if v, err := operator.DismissObserver(ctx, runtime.ID()); err != nil || v.Observer {
		t.Error(v, err)
	}
}
