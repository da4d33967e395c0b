import { Client } from '@temporalio/client';
import { defaultPayloadConverter, type ExternalStorage } from '@temporalio/common';
import { dataConverterOf } from '../shared/data-converter';
import { failureOf } from '../shared/errors';
import { readNewestResult, unreadableCause } from '../shared/readable-results';
import { type DoctorCheck, failedCheck, type Finding, ok, warning } from './check';

const LIMIT_MS = 6_000;

/**
 * Whether the external storage for payloads works, and whether this machine can read what the workers return. Stores one
 * small payload per day, because a storage cannot delete it.
 */
export const payloads: DoctorCheck = {
  name: 'payloads',
  title: 'Payloads',
  after: ['namespace'],
  limitMs: LIMIT_MS,
  late: 'storage_unreachable',
  run: async ({ target, env, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('The server check must pass first.');
    const { namespace, taskQueue } = target;
    const dataConverter = await dataConverterOf(env, namespace, target);
    const storage = dataConverter?.externalStorage;
    const lost = storage === undefined ? undefined : await lostIn(storage, namespace);
    if (lost !== undefined) return lost;
    const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
    try {
      const isRead = await readNewestResult(client, taskQueue);
      const stored = storage === undefined ? '' : 'the external storage works; ';
      return ok(`${stored}${isRead ? 'the newest result is readable' : 'no results yet'}`);
    } catch (error) {
      const cause = unreadableCause(error);
      const { message, hint } = failureOf(cause ?? error).reply;
      return cause === undefined
        ? warning(`The newest result could not be looked up: ${message}`, hint)
        : warning(`Videos can be created, but commands here cannot read results: ${message}`, hint);
    }
  },
};

/** Stores a payload with each driver and reads it again. Returns what is wrong. */
async function lostIn({ drivers }: ExternalStorage, namespace: string): Promise<Finding | undefined> {
  const text = `doctor ${new Date().toISOString().slice(0, 10)}`;
  const target = { kind: 'workflow', namespace, id: 'doctor' } as const;
  for (const driver of drivers) {
    const claims = await driver.store({ target }, [defaultPayloadConverter.toPayload(text)]);
    const [read] = await driver.retrieve({}, claims);
    if (read === undefined || defaultPayloadConverter.fromPayload(read) !== text)
      return failedCheck(
        'storage_unreachable',
        `The external storage "${driver.name}" returned another payload.`,
      );
  }
  return undefined;
}
