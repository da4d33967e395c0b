package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Usage: worker QUEUE, or start ORDER MEDIA_QUEUE
func main() {
	temporal, err := client.Dial(client.Options{
		HostPort:  os.Getenv("TEMPORAL_ADDRESS"),
		Namespace: os.Getenv("TEMPORAL_NAMESPACE"),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer temporal.Close()
	if os.Args[1] == "worker" {
		err = work(temporal, os.Args[2])
	} else {
		err = start(temporal, os.Args[2], os.Args[3])
	}
	if err != nil {
		log.Fatal(err)
	}
}

func work(temporal client.Client, queue string) error {
	films := worker.New(temporal, queue, worker.Options{})
	films.RegisterWorkflowWithOptions(OrderFilm, workflow.RegisterOptions{Name: "orderFilm"})
	if err := films.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	<-worker.InterruptCh()
	films.Stop()
	return nil
}

// start buys a film without a custom workflow and prints its outcome.
func start(temporal client.Client, order string, mediaQueue string) error {
	request := message{"model": "cine-1", "prompt": "a kite over the sea", "durationSeconds": 2}
	film := message{"request": request, "creationKey": order}
	if err := validate("generate-video-input", film); err != nil {
		return err
	}
	run, err := temporal.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{
		// Same as the creation key: starting the order again waits for the same film.
		ID:                       order,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TaskQueue:                mediaQueue,
	}, "generateVideo", film)
	if err != nil {
		return err
	}
	var outcome message
	if err := run.Get(context.Background(), &outcome); err != nil {
		return err
	}
	if err := validate("video-outcome", outcome); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(outcome)
}
