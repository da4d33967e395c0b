// Package main has a workflow that buys a film from media workers, which have their own task queue.
package main

import (
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

type message = map[string]any

// OrderFilm buys one film for an order. It ends with the outcome of the film, whatever that is.
func OrderFilm(ctx workflow.Context, order string, request message, mediaQueue string) (message, error) {
	// One order buys one film: a retry or a reset of this workflow gets the film that it bought before.
	film := message{"request": request, "creationKey": order, "waitFor": "15m"}
	if err := validate("generate-video-input", film); err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "ValidationError", nil)
	}
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		TaskQueue: mediaQueue,
		// A paid film is finished and kept, even if this workflow ends first.
		ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON,
	})
	var outcome message
	if err := workflow.ExecuteChildWorkflow(ctx, "generateVideo", film).Get(ctx, &outcome); err != nil {
		return nil, err
	}
	if err := validate("video-outcome", outcome); err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "ValidationError", nil)
	}
	return outcome, nil
}
