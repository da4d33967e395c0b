"""Runs the workflow from film.py: worker.py QUEUE."""

import asyncio
import os
import sys

from temporalio.client import Client
from temporalio.worker import Worker

from film import OrderFilm


async def main(queue: str) -> None:
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"], namespace=os.environ["TEMPORAL_NAMESPACE"])
    async with Worker(client, task_queue=queue, workflows=[OrderFilm]):
        print("ready", flush=True)
        await asyncio.Event().wait()


asyncio.run(main(sys.argv[1]))
