import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type DataConverter,
  ExternalStorage,
  StorageDriverClaim,
  type StorageDriver,
} from '@temporalio/common';
import { temporal } from '@temporalio/proto';

const Payload = temporal.api.common.v1.Payload;

/** Keeps every payload in a file of a folder, so that histories contain references only. */
export function storedIn(dir: string): DataConverter {
  const driver: StorageDriver = {
    name: 'files',
    type: 'test.files',
    store: async (_context, payloads) => {
      await mkdir(dir, { recursive: true });
      return Promise.all(
        payloads.map(async (payload) => {
          const file = randomUUID();
          await writeFile(path.join(dir, file), Payload.encode(payload).finish());
          return new StorageDriverClaim({ file });
        }),
      );
    },
    retrieve: async (_context, claims) =>
      Promise.all(
        claims.map(async ({ claimData }) =>
          Payload.decode(await readFile(path.join(dir, claimData['file'] ?? ''))),
        ),
      ),
  };
  return { externalStorage: new ExternalStorage({ drivers: [driver], payloadSizeThreshold: 0 }) };
}
