import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type VideoOutcome } from '../../src/domain/outcome';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';
import { testBundlePath } from '../support/test-bundle';

/** Functions of the paid path and of the wait, each called from another file. */
const PLACES = [
  'activities/prepare-video#prepareVideo',
  'activities/intent#fingerprintOf',
  'activities/intent#intentOf',
  'activities/admission#payerRefusal',
  'activities/admission#unannounced',
  'activities/sender#withSender',
  'activities/paid-context#caller',
  'activities/paid-context#preferred',
  'activities/unknown-sends#keepFirstPurchase',
  'domain/log-entries#honouredKey',
  'domain/clocks#givenAt',
  'activities/admission#admitCall',
  'activities/key-log#openLog',
  'activities/key-log#append',
  'activities/key-log#recordAnswer',
  'activities/key-log#indexCreated',
  'activities/unknown-sends#isUnseen',
  'domain/paid-log#decide',
  'domain/paid-log#apply',
  'activities/send-window#sendWindow',
  'activities/paid-answers#warningsAfter',
  'service/send-paid#sendPaid',
  'service/paid-exchange#exchangeOnce',
  'service/read-replies#replyHeaders',
  'service/read-replies#findRecord',
  'service/request-bodies#wireVideoBody',
  'service/get-video#getVideo',
  'service/video-record#readVideoRecord',
  'service/content-fetch#fetchContent',
  'service/reply-headers#parseRetryAfter',
  'service/endpoint#apiUrl',
  'stores/journal/records#keyPrefix',
  'stores/journal/records#entryName',
  'stores/journal/records#taskName',
  'domain/create-policy#resolveCreatePolicy',
  'domain/money#estimateFor',
  'domain/validate-request#validateRequest',
  'domain/model-config#validateAgainstModel',
  'activities/fetch-video#tryLocations',
  'activities/fetch-body#readBody',
  'activities/fetch-body#digestOf',
  'stores/artifacts/video-check#checkVideo',
];
const MISTAKE = 'This is a bug in temporal-media';

const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 100 } } }, async () => undefined);

describe('a mistake of our own', () => {
  let worker: ChildProcess;
  let log = '';
  const said: object[] = [];

  beforeAll(async () => {
    const { env } = await stack();
    worker = fork(join(__dirname, '..', 'support', 'mistaken-worker.js'), {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: {
        ...process.env,
        ...env,
        MISTAKES: JSON.stringify(PLACES),
        WORKFLOW_BUNDLE: await testBundlePath(),
      },
    });
    worker.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
    worker.on('message', (message: object) => said.push(message));
    await eventually('the worker', async () => said.some((one) => 'ready' in one));
  });
  afterAll(async () => {
    worker.disconnect();
    await once(worker, 'exit');
  });

  const plant = async (place: string | null): Promise<void> => {
    said.length = 0;
    worker.send(place as never);
    await eventually('the mistake', async () => said.some((one) => 'planted' in one));
  };

  it.each(PLACES)('in %s is loud, and buys nothing twice', async (place) => {
    const { media, server, sandbox } = await stack();
    const id = server.uniqueId('mistake');
    const request = { model: 'sketch-lite', prompt: `a kite for ${id}`, durationSeconds: 2 };
    log = '';
    await plant(place);
    const started = await media.startVideo({ request, polling: 'own' }, { id });
    await eventually(
      'the mistake, met and told',
      async () => said.some((one) => 'hit' in one) && log.includes(MISTAKE),
    );
    expect(log).toMatch(/\[ERROR\].*This is a bug/);
    expect(log).toContain('mistaken-worker.js');
    await plant(null);
    const outcome = (await started.result()) as VideoOutcome & { readonly reason?: string };
    const accepted = (await sandbox.admin.tasks()).filter(({ prompt }) => prompt === request.prompt).length;
    expect(accepted).toBeLessThanOrEqual(1);
    // It ends in one of three ways: nothing was sent and it says so, its fate waits for a person, or the video comes.
    if (outcome.outcome === 'rejected') expect([outcome.reason, accepted]).toEqual(['internal_error', 0]);
    else if (outcome.outcome !== 'unconfirmed') expect([outcome.outcome, accepted]).toEqual(['completed', 1]);
    // Without the mistake the same id buys it, unless a person has to decide first.
    if (outcome.outcome === 'rejected') {
      const again = await (await media.startVideo({ request, polling: 'own' }, { id })).result();
      expect(again.outcome).toBe('completed');
    }
  });
});
