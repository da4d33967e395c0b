import { type LogMetadata } from '@temporalio/common';
import { DefaultLogger, LogTimestamp } from '@temporalio/worker';
import { withoutPayloads } from '../../src/worker/telemetry';

describe('a logger without payloads', () => {
  const seen: unknown[] = [];
  const logger = withoutPayloads(
    new DefaultLogger('TRACE', ({ level, message, meta }) => void seen.push([level, message, meta])),
  );
  beforeEach(() => seen.splice(0));

  it('[C5.4c] shows of an entry of the SDK what identifies a call, and of anything else only that it was there', () => {
    const error = new Error('not registered');
    const meta: LogMetadata = {
      sdkComponent: 'worker',
      taskQueue: 'q',
      activityType: 't',
      attempt: 2,
      error,
      task: '{"input":"a red kite"}',
      taskEncoded: 'YSByZWQga2l0ZQ==',
      fieldOfALaterVersion: { payload: 'a red kite' },
    };
    logger.error('Error while processing ActivityTask.start', meta);
    const removed = { task: '[removed]', taskEncoded: '[removed]', fieldOfALaterVersion: '[removed]' };
    expect(seen).toEqual([['ERROR', 'Error while processing ActivityTask.start', { ...meta, ...removed }]]);
  });

  it('passes entries of activities and workflows on as they are, at every level, with their time', () => {
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const)
      logger[level]('text', { own: 1 });
    logger.log('WARN', 'text', { sdkComponent: 'activity', task: 'a task of the user' });
    logger.log('INFO', 'text');
    expect(seen).toEqual([
      ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'].map((level) => [level, 'text', { own: 1 }]),
      ['WARN', 'text', { sdkComponent: 'activity', task: 'a task of the user' }],
      ['INFO', 'text', undefined],
    ]);
    const times: bigint[] = [];
    const timed = new DefaultLogger('INFO', ({ timestampNanos }) => void times.push(timestampNanos));
    withoutPayloads(timed).info('text', { sdkComponent: 'worker', [LogTimestamp]: 7n });
    expect(times).toEqual([7n]);
  });
});
