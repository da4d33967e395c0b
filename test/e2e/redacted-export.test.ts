import { join } from 'node:path';
import '../support/quiet-temporal';
import { ApplicationFailure } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { historyToProtobuf } from '../../packages/replay/src/history-codec';
import { redactHistory } from '../../packages/replay/src/redact-history';
import { replayHistories } from '../../packages/replay/src/replay-histories';
import { connectTestServer } from '../support/temporal';

const CANARY = 'canary-7f3a';

it('with local activities, ids that somebody chose and what a start says has nothing of it, and replays', async () => {
  const server = await connectTestServer();
  const { client, namespace, nativeConnection: connection } = server;
  const taskQueue = server.uniqueId('users');
  const bundle = await bundleWorkflowCode({
    logger: new DefaultLogger('ERROR'),
    workflowsPath: join(__dirname, '..', 'replays', 'users', 'local-steps.ts'),
  });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: bundle,
    activities: {
      measure: async (text: string) => `${text}, measured`,
      refuse: async (text: string) => {
        throw ApplicationFailure.nonRetryable(text, CANARY, text);
      },
    },
  });
  const running = worker.run();
  try {
    const workflowId = `${CANARY}-${taskQueue}`;
    const handle = await client.workflow.start('localSteps', {
      taskQueue,
      workflowId,
      args: [`a film of ${CANARY}`],
      staticSummary: `${CANARY} summary`,
      staticDetails: `${CANARY} details`,
      memo: { note: CANARY },
    });
    await handle.signal(`not handled ${CANARY}`, CANARY);
    await handle.executeUpdate('rename', { args: [CANARY], updateId: `${CANARY}-update` });
    await handle.signal('go', CANARY);
    await handle.result();
    const run = {
      workflowId,
      runId: handle.firstExecutionRunId,
      workflowType: 'localSteps',
      source: 'made here',
    };
    const original = { ...run, history: await handle.fetchHistory() };
    const redacted = redactHistory(original, bundle.code);
    const count = (history: Parameters<typeof historyToProtobuf>[0]): number =>
      Buffer.from(historyToProtobuf(history)).toString('latin1').split(CANARY).length - 1;
    expect(count(original.history)).toBeGreaterThan(10);
    expect(count(redacted.history)).toBe(0);
    const verdicts: string[] = [];
    for (const one of [original, redacted])
      for await (const { verdict } of replayHistories({ bundle }, of(one as never)))
        verdicts.push(verdict.verdict);
    expect(verdicts).toEqual(['identical', 'identical']);
  } finally {
    worker.shutdown();
    await running;
    await server.close();
  }
});

async function* of<T>(one: T): AsyncGenerator<T> {
  yield one;
}
