// Package main defines a workflow that buys a film from media workers, which poll their own task queue.
package main

import (
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

type message = map[string]any

// OrderFilm buys one film for an order and returns the film's outcome, whatever it is.
func OrderFilm(ctx workflow.Context, order string, request message, mediaQueue string) (message, error) {
	// One order buys one film: after a retry or a reset, this workflow gets the film that it already bought.
	film := message{"request": request, "creationKey": order, "waitFor": "15m"}
	if err := validate("generate-video-input", film); err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "ValidationError", nil)
	}
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		TaskQueue: mediaQueue,
		// A film that was paid for is finished and stored, even if this workflow ends first.
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
