import { UPDATE } from '../../src/domain/names';
import { accepted } from '../support/accepted';
import { eventually } from '../support/eventually';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';

/**
 * A server that is reset applies the Updates of its history again. A decision names the send that a person looked into,
 * so that it authorises no other one (failure model: The log).
 */
describe('a decision that is applied again', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } });
  const WHO = { by: 'ada', reason: 'not in the console' };

  /** A create that is accepted whenever it is sent, and whose replies are all lost. */
  async function lostCreate(prompt: string, onUnconfirmed: 'wait' | 'end') {
    const { media, sandbox, server } = await stack();
    await sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        times: 9,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const id = server.uniqueId('decided');
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    const start = async () => media.startVideo({ request, onUnconfirmed }, { id });
    return { id, start };
  }

  /** The send of unknown fate that a waiting workflow shows, once it is not this one. */
  async function shown(id: string, not?: string): Promise<string> {
    const { media } = await stack();
    let sendId = '';
    await eventually('the evidence of an unconfirmed send', async () => {
      const { phase, evidence } = await media.videoState(id);
      sendId = evidence?.sendId ?? '';
      return phase === 'unconfirmed' && sendId !== '' && sendId !== not;
    });
    return sendId;
  }

  it.concurrent.each([0, 0.5, 1])(
    '[C4.4a] by a reset of a workflow that waits, to %d of its tasks, authorises nothing more',
    async (place) => {
      const prompt = `resubmitted, lost again, and reset to ${place}`;
      const { id, start } = await lostCreate(prompt, 'wait');
      await start();
      const { server, media } = await stack();
      const handle = server.client.workflow.getHandle(id);
      const first = await shown(id);
      const decided = { sendId: first, ...WHO };
      expect(await handle.executeUpdate(UPDATE.resubmit, { args: [decided] })).toMatchObject({
        resolved: true,
      });
      const second = await shown(id, first);
      expect(await accepted(await stack(), prompt)).toBe(2);
      const again = await resetWorkflow(server, id, place);
      expect(await shown(id, first)).toBe(second);
      // Whoever looked into the first send, and decides now, is told what stands.
      expect(await again.executeUpdate(UPDATE.resubmit, { args: [{ ...decided, by: 'bob' }] })).toMatchObject(
        {
          resolved: false,
          reason: 'already_decided',
          stands: { sendId: first, decision: 'resubmit', by: 'ada' },
        },
      );
      expect(await shown(id, first)).toBe(second);
      expect(await accepted(await stack(), prompt)).toBe(2);
      expect(
        await media.resolveUnconfirmed({ creationKey: id, decision: 'declareLost', ...WHO }),
      ).toMatchObject({
        resolved: true,
      });
      expect(await again.result()).toMatchObject({ outcome: 'rejected', reason: 'declared_lost' });
    },
  );

  it.concurrent('[C4.4a] by a reset of the workflow that carried it out, authorises nothing more', async () => {
    const prompt = 'resubmitted by a workflow that is reset';
    const { id, start } = await lostCreate(prompt, 'end');
    const { server, media } = await stack();
    const outcome = await (await start()).result();
    if (outcome.outcome !== 'unconfirmed') throw new Error(outcome.outcome);
    const { sendId } = outcome.evidence;
    const resolver = server.uniqueId('resolve');
    const { taskQueue } = await stack();
    const input = { creationKey: id, sendId, decision: 'resubmit', ...WHO };
    const carried: unknown = await server.client.workflow.execute('resolveUnconfirmed', {
      taskQueue,
      workflowId: resolver,
      args: [input],
    });
    expect(carried).toMatchObject({ resolved: true });
    expect(await (await start()).result()).toMatchObject({ outcome: 'unconfirmed' });
    expect(await accepted(await stack(), prompt)).toBe(2);
    await (await resetWorkflow(server, resolver)).result();
    expect(await (await start()).result()).toMatchObject({ outcome: 'unconfirmed' });
    expect(await accepted(await stack(), prompt)).toBe(2);
    // The second send is another one, and needs a decision of its own.
    expect(await media.resolveUnconfirmed({ creationKey: id, decision: 'resubmit', ...WHO })).toMatchObject({
      resolved: true,
    });
    await (await start()).result();
    expect(await accepted(await stack(), prompt)).toBe(3);
  });
});
