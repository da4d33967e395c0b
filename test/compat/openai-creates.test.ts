import { type OpenaiCreates, openaiCreates } from '../../bench/openai-creates';
import { FAULT_NAMES, type WireFault } from '../../bench/wire-faults';
import { runSandbox, type RunningSandbox } from '../testing/sandbox/running-sandbox';

type Figures = Pick<OpenaiCreates, 'sent' | 'accepted' | 'outcome'>;

/** One lost reply, then good ones; and a service whose every reply is lost. */
const paidAgain: { once: Figures; always: Figures } = {
  once: { sent: 2, accepted: 2, outcome: 'returned' },
  always: { sent: 3, accepted: 3, outcome: 'threw' },
};
const hung: Figures = { sent: 1, accepted: 1, outcome: 'hung' };
const threw: Figures = { sent: 1, accepted: 1, outcome: 'threw' };
const measured: Record<WireFault, { once: Figures; always: Figures }> = {
  reset: paidAgain,
  '502': paidAgain,
  '500': paidAgain,
  '504': paidAgain,
  '429': {
    once: { sent: 2, accepted: 1, outcome: 'returned' },
    always: { sent: 3, accepted: 0, outcome: 'threw' },
  },
  stall: paidAgain,
  'body stall': { once: hung, always: hung },
  'body cut': { once: threw, always: threw },
};

/** The official client's own retries against the server's count: what a lost reply costs without a journal. */
describe('creates of the openai client under wire faults', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox({ mode: 'compat' });
  });
  afterAll(() => sandbox.close());

  test.each(FAULT_NAMES)('%s', async (fault) => {
    // Only the stalled body has to be given up on; all others end by themselves, after the client's own backoff.
    const limits = { timeoutMs: 300, giveUpMs: fault === 'body stall' ? 1_000 : 50_000 };
    const [once, always] = [
      await openaiCreates(sandbox, fault, { ...limits, times: 1 }),
      await openaiCreates(sandbox, fault, limits),
    ];
    expect({ once, always }).toMatchObject(measured[fault]);
    expect([once.withKey, always.withKey]).toEqual([0, 0]);
  });

  test('without its retries it sends one', async () => {
    const figures = await openaiCreates(sandbox, 'reset', { maxRetries: 0 });
    expect(figures).toMatchObject({ sent: 1, accepted: 1, outcome: 'threw' });
  });
});
