"""A workflow that buys a film from media workers, which have their own task queue."""

from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from jsonschema import ValidationError

    from schemas import validate


# Any other exception would not end the workflow: its task would be retried indefinitely.
@workflow.defn(name="orderFilm", failure_exception_types=[ValidationError])
class OrderFilm:
    @workflow.run
    async def run(self, order: str, request: dict[str, Any], media_queue: str) -> dict[str, Any]:
        # One order buys one film: a retry or a reset of this workflow gets the film that it bought before.
        film = {"request": request, "creationKey": order, "waitFor": "15m"}
        validate("generate-video-input", film)
        outcome = await workflow.execute_child_workflow(
            "generateVideo",
            film,
            task_queue=media_queue,
            # A paid film is finished and kept, even if this workflow ends first.
            parent_close_policy=workflow.ParentClosePolicy.ABANDON,
        )
        validate("video-outcome", outcome)
        return outcome
