import { randomUUID } from 'node:crypto';
import { createMediaClient } from '../../service/create-media-client';
import { environmentConnections } from '../../service/connections';
import { type Check, skipped } from './check';
import { judgeServiceAnswer } from './service-answer';
import { watchedConnections } from './watched-connections';

const ANSWER_MS = 7_000;

/**
 * Asks for a task that cannot exist: one GET, which costs nothing (contract 1), with the key as every call carries it
 * (C5.1). Nothing is ever created here.
 */
export const service: Check = {
  name: 'service',
  title: 'Service',
  after: ['proxy'],
  workerSide: true,
  limitMs: ANSWER_MS + 1_000,
  late: 'service_unreachable',
  run: async ({ service: known, config, env }) => {
    if (known === undefined) return skipped('settings');
    const { baseUrl } = known;
    let cause: unknown;
    const client = createMediaClient({
      baseUrl,
      apiKey: config.apiKey,
      connections: { poll: 1 },
      connectionFactory: watchedConnections(environmentConnections(env), (error) => (cause = error)),
    });
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const result = await client.getVideo(`doctor-${randomUUID()}`, { signal });
      return judgeServiceAnswer({ result, baseUrl, cause });
    } finally {
      await client.close();
    }
  },
};
