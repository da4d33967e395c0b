import { checkWaits, type FoundWait } from '../../packages/cli/src/doctor/waiting';
import { campaignStateOf, startCampaign } from '../support/campaign';
import { eventually } from '../support/eventually';
import { startMediaStack } from '../support/media-stack';
import { runDoctor } from './support/doctor-run';
import { runCli } from './support/run-cli';

const HELD: FoundWait = {
  workflowId: 'order-1',
  why: 'The service has rejected calls from account default@1: No. Nothing was sent.',
  until: Date.parse('2026-05-01T10:00:00.000Z'),
  reason: 'credentials',
  account: 'default@1',
};

const all = (found: readonly FoundWait[]) => ({ found, silent: 0 });

describe('what doctor says of calls that wait', () => {
  test.each([
    ['the account of the next video', 'default@1', {}, 'failed'],
    ['its credential, where the service is not known here', 'default', {}, 'failed'],
    ['no balance', 'default@1', { reason: 'quota' }, 'failed'],
    ['another account', 'studio@1', {}, 'warning'],
    ['a model alone', 'default@1', { reason: 'invalid_request' }, 'warning'],
    ['what a worker lacks', 'default@1', { reason: null, account: null }, 'warning'],
  ] as const)('%s', (_title, own, change, state) => {
    const finding = checkWaits(all([{ ...HELD, ...change }]), 3, [own]);
    expect(finding.state).toBe(state);
    expect(finding.message).toMatch(
      /^1 of the 3 newest .* order-1 is waiting.*at 2026-05-01T10:00:00.000Z: The/,
    );
    expect('remedy' in finding && finding.remedy).toMatch(/continue automatically/);
  });

  test('each reason once, and nothing where nothing waits', () => {
    const finding = checkWaits(all([HELD, { ...HELD, workflowId: 'order-2' }]), 2, ['default@1']);
    expect(finding.message).toContain('2 of the 2 newest');
    expect(finding.message.match(/is waiting \(account/g)).toHaveLength(1);
    expect(checkWaits(all([]), 2, ['default@1']).state).toBe('ok');
    expect(checkWaits(all([]), 0, ['default@1']).state).toBe('ok');
    const unread = checkWaits({ found: [], silent: 2 }, 2, ['default@1']);
    expect([unread.state, unread.message]).toEqual(['warning', expect.stringContaining('is unknown')]);
  });

  test('[C7.3] a closed gate: account, reason, since when and when it is tried next, of videos, images and campaigns', async () => {
    const stack = await startMediaStack({
      sandbox: { timing: { queuedMs: 0, runningMs: 200 }, videos: 'shared' },
    });
    try {
      await stack.startWorker();
      const { sandbox, media } = stack;
      // The server lists a poller with its first poll.
      await eventually('nothing is running', async () => {
        const { checks } = await runDoctor(stack.env);
        return checks['waiting']?.state === 'ok' && checks['waiting'].message === 'nothing is running';
      });
      const body = { error: { code: 'insufficient_balance', message: 'Top up.' } };
      await sandbox.admin.addFaults(
        (['create', 'generate'] as const).map((operation) => ({
          operation,
          times: 0,
          action: { type: 'status', status: 402, body },
        })),
      );
      const row = { model: 'cine-1', prompt: 'a row', duration: 2 };
      const campaign = await startCampaign(stack, [
        { id: 'a', ...row },
        { id: 'b', ...row },
      ]);
      await eventually('why rows wait', async () =>
        (await campaignStateOf(campaign)).notes.find((note) => note.startsWith('Rows wait')),
      );
      const held = await runDoctor(stack.env);
      expect([held.failed, held.code, held.error?.type]).toEqual([['waiting'], 77, 'service_credentials']);
      const request = { model: 'image-2', prompt: 'alone', size: '512x512' };
      const image = await media.images.start({ request }, { as: 'workflow' });
      const waits = await eventually('an image that waits', async () => {
        const { stdout } = await runCli(['status', image.workflowId], stack.env);
        return /Note: .*rejected calls/.test(stdout) && stdout;
      });
      expect(waits).toMatch(
        /Since 20.* has rejected calls from account default@.*HTTP 402.*next check is at 20/,
      );
      const standalone = await media.images.start({ request });
      const refused = /ast failure: Since 20.* has rejected calls from account default@/;
      if (standalone.as === 'activity')
        await eventually('an activity that waits', async () =>
          refused.test((await runCli(['status', standalone.workflowId], stack.env)).stdout),
        );
      const both = await runDoctor(stack.env);
      expect(both.checks['waiting']?.message).toMatch(
        /^3 of the 3 newest .*Since 20.*no quota or balance.*next check is at 20/,
      );
      expect(both.error?.hint).toMatch(/balance/);
      const call = stack.server.client.workflow.getHandle(image.workflowId);
      const other =
        standalone.as === 'activity'
          ? stack.server.client.activity.getHandle(standalone.workflowId)
          : stack.server.client.workflow.getHandle(standalone.workflowId);
      await Promise.all([campaign.cancel(), call.cancel(), other.terminate('the test ends')]);
      await Promise.all([campaign.result(), image.result()]);
      await eventually('a doctor that is content', async () => (await runDoctor(stack.env)).code === 0);
      expect((await sandbox.admin.counters()).creates.received).toBe(1);
    } finally {
      await stack.stop();
    }
  }, 120_000);
});
