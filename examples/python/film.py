"""A workflow that buys a film from media workers, which poll their own task queue."""

from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from jsonschema import ValidationError

    from schemas import validate


# Any other exception fails only the workflow task, which Temporal retries indefinitely.
@workflow.defn(name="orderFilm", failure_exception_types=[ValidationError])
class OrderFilm:
    @workflow.run
    async def run(self, order: str, request: dict[str, Any], media_queue: str) -> dict[str, Any]:
        # One order buys one film: after a retry or a reset, this workflow gets the film that it already bought.
        film = {"request": request, "creationKey": order, "waitFor": "15m"}
        validate("generate-video-input", film)
        outcome = await workflow.execute_child_workflow(
            "generateVideo",
            film,
            task_queue=media_queue,
            # A film that was paid for is finished and stored, even if this workflow ends first.
            parent_close_policy=workflow.ParentClosePolicy.ABANDON,
        )
        validate("video-outcome", outcome)
        return outcome
