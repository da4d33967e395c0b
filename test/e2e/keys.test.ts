import { CreationKeyConflictError } from '../../src/client';
import { type VideoOutcome } from '../../src/domain';
import { WORKFLOW } from '../../src/domain/names';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

/** One key is one authorisation to create: whoever comes with it gets what the first one got (architecture: Create). */
describe('a creation key', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 1_000 } } });

  const request = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });

  /** Past the client and its memo: two workflows with one key, as any caller may start them. */
  async function execute(input: GenerateVideoInput): Promise<VideoOutcome> {
    const { server, taskQueue } = await stack();
    return server.client.workflow.execute(WORKFLOW.generateVideo, {
      taskQueue,
      workflowId: server.uniqueId('keyed'),
      args: [input],
    }) as Promise<VideoOutcome>;
  }

  it.concurrent('[C4.4a] the same id and request attach while it runs and return the first result afterwards', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('order');
    const prompt = 'asked for three times';
    const first = await media.startVideo({ request: request(prompt) }, { id });
    const second = await media.startVideo({ request: request(prompt) }, { id });
    expect([first.isNew, second.isNew]).toEqual([true, false]);
    expect(second.runId).toBe(first.runId);
    const outcomes = await Promise.all([first.result(), second.result()]);
    const third = await media.startVideo({ request: request(prompt) }, { id });
    expect(third.isNew).toBe(false);
    expect(outcomes[0]).toMatchObject({ outcome: 'completed' });
    expect([outcomes[1], await third.result()]).toEqual([outcomes[0], outcomes[0]]);
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C4.4c] the same id after a lost reply returns the unknown fate and sends nothing', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('order');
    const prompt = '[lost-reply] asked for again in vain';
    const first = await (await media.startVideo({ request: request(prompt) }, { id })).result();
    const second = await (await media.startVideo({ request: request(prompt) }, { id })).result();
    expect(first).toMatchObject({ outcome: 'unconfirmed' });
    expect(second).toEqual(first);
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('the same id with another request is refused by the client', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('order');
    const first = await media.startVideo({ request: request('the first wish') }, { id });
    const conflict = media.startVideo({ request: request('another wish') }, { id });
    await expect(conflict).rejects.toBeInstanceOf(CreationKeyConflictError);
    await first.result();
    const later = media.startVideo({ request: { ...request('the first wish'), durationSeconds: 4 } }, { id });
    await expect(later).rejects.toBeInstanceOf(CreationKeyConflictError);
    expect(await received(await stack(), 'another wish')).toBe(0);
    expect(await received(await stack(), 'the first wish')).toBe(1);
  });

  it.concurrent('one key and two requests in two workflows: the second is rejected by the journal', async () => {
    const creationKey = (await stack()).server.uniqueId('row');
    const first = await execute({ creationKey, request: request('the row as it was') });
    const second = await execute({ creationKey, request: request('the row after an edit') });
    expect(first).toMatchObject({ outcome: 'completed' });
    expect(second).toMatchObject({ outcome: 'rejected', reason: 'creation_key_conflict', creationKey });
    expect(await received(await stack(), 'the row after an edit')).toBe(0);
  });

  it.concurrent('[C4.4a] a second caller in mid-create gets the first one’s task, never a false unconfirmed', async () => {
    const { server, sandbox } = await stack();
    const creationKey = server.uniqueId('row');
    const prompt = '[run:9s] asked for by two at once';
    await sandbox.admin.addFaults([
      { operation: 'create', promptIncludes: prompt, action: { type: 'delay', ms: 3_000 } },
    ]);
    // Whose task it is shows without waiting for the video.
    const input: GenerateVideoInput = { creationKey, request: request(prompt), waitFor: '1s' };
    const first = execute(input);
    await eventually('the send', async () => (await received(await stack(), prompt)) === 1);
    const [one, two] = await Promise.all([first, execute(input)]);
    if (one.outcome !== 'still_running' || two.outcome !== 'still_running')
      throw new Error(`${one.outcome}, ${two.outcome}`);
    expect(two.video.taskId).toBe(one.video.taskId);
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C7.5] a second caller in mid-create of a 502 shares its unknown fate', async () => {
    const { server, sandbox } = await stack();
    const creationKey = server.uniqueId('row');
    const prompt = 'asked for by two and lost';
    await sandbox.admin.addFaults([
      { operation: 'create', promptIncludes: prompt, action: { type: 'delay', ms: 3_000 } },
      { operation: 'create', promptIncludes: prompt, action: { type: 'status', status: 502 } },
    ]);
    const first = execute({ creationKey, request: request(prompt) });
    await eventually('the send', async () => (await received(await stack(), prompt)) === 1);
    const [one, two] = await Promise.all([first, execute({ creationKey, request: request(prompt) })]);
    expect(one).toMatchObject({ outcome: 'unconfirmed', evidence: { httpStatus: 502 } });
    expect(two).toEqual(one);
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('an account that the worker does not have: nothing is sent', async () => {
    const prompt = 'for somebody else';
    for (const account of ['studio', 'default@00000000']) {
      expect(await execute({ account, startLimit: '2s', request: request(prompt) })).toMatchObject({
        outcome: 'rejected',
        reason: 'account_not_configured',
        field: 'account',
        sends: 0,
      });
    }
    expect(await received(await stack(), prompt)).toBe(0);
  });
});
