"""Buys a film without a custom workflow and prints its outcome: start.py ORDER MEDIA_QUEUE."""

import asyncio
import json
import os
import sys

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy

from schemas import validate


async def main(order: str, media_queue: str) -> None:
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"], namespace=os.environ["TEMPORAL_NAMESPACE"])
    request = {"model": "cine-1", "prompt": "a kite over the sea", "durationSeconds": 2}
    film = {"request": request, "creationKey": order}
    validate("generate-video-input", film)
    outcome = await client.execute_workflow(
        "generateVideo",
        film,
        # Same as the creation key: starting the order again waits for the same film.
        id=order,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        task_queue=media_queue,
    )
    validate("video-outcome", outcome)
    print(json.dumps(outcome))


asyncio.run(main(*sys.argv[1:]))
