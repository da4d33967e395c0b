import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideo } from '../../src/activities/create-video';
import { createImageCall } from '../../src/activities/image-call';
import { type PaidDeps } from '../../src/activities/paid-context';
import { type CreateJournal } from '../../src/domain/journal';
import { type SpendLimit } from '../../src/domain/money';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { createMediaClient } from '../../src/service/create-media-client';
import { type MediaClient } from '../../src/service/media-client';
import { type Account, accountRegistry, SendRate } from '../../src/settings/accounts';
import { createModelSource } from '../../src/settings/model-source';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { json, loopback } from '../service/loopback-service';
import { paidDeps } from './paid-deps';

const NAME = 'default@00000000';
/** One video of the model `priced` costs 10 micro-units. */
const MODELS = {
  version: 1,
  models: [
    { id: 'priced', kind: 'video', price: { per: 'task', microUnits: 10, currency: 'USD' } },
    { id: 'unpriced', kind: 'video' },
    {
      id: 'image',
      kind: 'image',
      price: { per: 'task', microUnits: 10, currency: 'USD' },
      actual: { header: 'X-Cost', currency: 'USD' },
    },
  ],
};

describe('what an account allows to be sent', () => {
  let folder: string;
  let service: Awaited<ReturnType<typeof loopback>>;
  let client: MediaClient;
  let journal: CreateJournal;
  let status: number;
  let sent: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-admission-'));
    [status, sent] = [200, 0];
    service = await loopback((_, response) => {
      sent += 1;
      json(response, status, { id: `video_${sent}`, status: 'queued' });
    });
    client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
    journal = createFileJournal({ root: join(folder, 'journal') });
    await writeFile(join(folder, 'models.json'), JSON.stringify(MODELS));
  });
  afterEach(async () => {
    await client.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const depsOf = (account: Partial<Account>, of = journal): PaidDeps => ({
    ...paidDeps(folder, of),
    accounts: accountRegistry([{ name: NAME, client, hasKey: async () => true, ...account }]),
    models: createModelSource({ location: join(folder, 'models.json') }),
  });

  /** Creates one video after the other, each under its own key. */
  async function create(account: Partial<Account>, models: readonly string[], of = journal) {
    const deps = depsOf(account, of);
    const activity = createCreateVideo(deps);
    const answers: CreateVideoAnswer[] = [];
    for (const [place, model] of models.entries()) {
      const call = { creationKey: `${deps.models.fingerprint()} ${sent} ${place}` };
      const env = new MockActivityEnvironment({ startToCloseTimeoutMs: 300_000 });
      answers.push(await env.run(activity, { ...call, request: { model, prompt: 'a kite' } }));
    }
    return answers;
  }
  const limit = (microUnits: number): { spendLimit: SpendLimit } => ({
    spendLimit: { microUnits, currency: 'USD', per: 'month' },
  });
  const outcomes = (answers: readonly CreateVideoAnswer[]) => answers.map(({ outcome }) => outcome);

  it('[C1.7] no more than its spend limit; the rest waits unsent until the window ends or an hour is over', async () => {
    const answers = await create(limit(25), ['priced', 'priced', 'priced']);
    expect(outcomes(answers)).toEqual(['created', 'created', 'not_sent']);
    expect(answers[2]).toMatchObject({
      cause: 'spend_limit',
      reason: 'spend_limit',
      sent: false,
      sendAttemptUsed: false,
      permanent: false,
    });
    const { heldUntil = '', message } = answers[2] as { heldUntil?: string; message: string };
    expect(Date.parse(heldUntil)).toBeGreaterThan(Date.now());
    expect(Date.parse(heldUntil)).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(message).toContain('0.000025 USD per month, of which 0.00002 USD');
    expect(sent).toBe(2);
    // A person raises it.
    expect(outcomes(await create(limit(30), ['priced', 'priced']))).toEqual(['created', 'not_sent']);
  });

  it('[C1.7] no more when its base address is corrected: the limit belongs to the credential', async () => {
    expect(outcomes(await create(limit(10), ['priced']))).toEqual(['created']);
    const corrected = { ...limit(10), name: NAME.replace(/@.*/, '@ffffffff') };
    expect(outcomes(await create(corrected, ['priced']))).toEqual(['not_sent']);
    expect(sent).toBe(1);
  });

  it('[C1.5] nothing of an unknown price, in another currency, or above the whole limit: these are refused at once', async () => {
    const [unknown] = await create(limit(100), ['unpriced']);
    const [dear] = await create(limit(9), ['priced']);
    const [foreign] = await create({ spendLimit: { microUnits: 100, currency: 'EUR', per: 'day' } }, [
      'priced',
    ]);
    for (const answer of [unknown, dear, foreign])
      expect(answer).toMatchObject({ outcome: 'rejected', reason: 'spend_limit', sent: false });
    expect(sent).toBe(0);
  });

  it('a refusal gives its estimate back, an unknown fate does not', async () => {
    status = 429;
    expect(outcomes(await create(limit(10), ['priced', 'priced']))).toEqual([
      'refused_for_now',
      'refused_for_now',
    ]);
    status = 502;
    expect(outcomes(await create(limit(10), ['priced', 'priced']))).toEqual(['unconfirmed', 'not_sent']);
    expect(sent).toBe(3);
  });

  it('[C1.9] as much as replies say that calls cost, also of images that are lost', async () => {
    await service.close();
    service = await loopback((_, response) => {
      response.setHeader('X-Cost', '0.000004');
      json(response, 200, { created: 7, data: [{ url: 'http://127.0.0.1:1/elsewhere.png' }] });
    });
    const own = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
    const call = createImageCall('generate_image', depsOf({ ...limit(14), client: own }));
    const generate = async (creationKey: string) => {
      const env = new MockActivityEnvironment({ startToCloseTimeoutMs: 480_000 });
      return env.run(call, { creationKey, request: { model: 'image', prompt: 'a kite' } });
    };
    for (const key of ['one', 'two'])
      expect(await generate(key)).toMatchObject({
        outcome: 'results_lost',
        billing: { estimate: 10, actual: 4 },
      });
    await expect(generate('three')).rejects.toThrow('of which 0.000008 USD is already spent or reserved');
    await own.close();
  });

  it('[C4.4a] nothing while the journal cannot keep what is spent', async () => {
    const fault = Object.assign(new Error(`ENOSPC, write '/srv/journal'`), { code: 'ENOSPC' });
    const full = { ...journal, putRecord: () => Promise.reject(fault) };
    const [answer] = await create(limit(100), ['priced'], full);
    expect(answer).toMatchObject({
      outcome: 'not_sent',
      cause: 'journal_unavailable',
      sendAttemptUsed: false,
      message:
        'The create journal cannot be read or written, and nothing is sent without it. The store failed (ENOSPC).',
    });
    expect(sent).toBe(0);
  });

  it('requests in its rate: what would wait for long goes back to its workflow, and no intent is written for it', async () => {
    const rate = new SendRate(0.01, () => 0);
    const answers = await create({ rate }, ['priced', 'priced']);
    expect(outcomes(answers)).toEqual(['created', 'not_sent']);
    expect(answers[1]).toMatchObject({ cause: 'account_rate', sendAttemptUsed: false, permanent: false });
    expect(answers[1]).toHaveProperty('heldUntil');
    expect(sent).toBe(1);
    expect((await journal.scan(null, 10)).logs).toHaveLength(1);
  });

  it('by its own models and create policy', async () => {
    const own = join(folder, 'own.json');
    await writeFile(own, JSON.stringify({ version: 1, models: [{ ...MODELS.models[0], id: 'own' }] }));
    const models = createModelSource({ location: own });
    expect(outcomes(await create({ models }, ['own', 'priced']))).toEqual(['created', 'rejected']);
    status = 502;
    expect(outcomes(await create({ policy: { on502: 'fail' } }, ['priced']))).toEqual(['rejected']);
  });
});
