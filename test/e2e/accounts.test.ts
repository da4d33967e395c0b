import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type VideoOutcome } from '../../src/domain';
import { accountName, normaliseBaseUrl } from '../../src/service/endpoint';
import { startCampaign, resultsOf } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { sized } from '../support/proof';
import { startTestSandbox, type TestSandbox } from '../support/shared-sandbox';

/** Each try of a call may meet either worker; nobody knows how many it takes. */
const MAX_WAIT_MS = 300_000;
const NAMES = ['studio-a', 'studio-b'] as const;
const VIDEOS = sized({ change: 6, deep: 20 });

describe('two accounts on one task queue', () => {
  let stack: MediaStack;
  let sandboxes: readonly TestSandbox[];
  let file: string;
  beforeEach(async () => {
    stack = await startMediaStack();
    sandboxes = await Promise.all(
      NAMES.map((name) =>
        startTestSandbox({ apiKeys: [keyOf(name)], timing: { queuedMs: 0, runningMs: 1_000 } }),
      ),
    );
    file = join(stack.dataDir, 'accounts.json');
    for (const name of NAMES) await writeFile(join(stack.dataDir, name), keyOf(name));
  });
  afterEach(async () => {
    await stack.stop();
    await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  });

  const keyOf = (name: string) => `the-key-of-${name}`;
  const sandboxOf = (name: string) => sandboxes[NAMES.indexOf(name as (typeof NAMES)[number])] as TestSandbox;
  const originOf = (name: string) => new URL(sandboxOf(name).mediaUrl).origin;
  const fullName = (name: string) => accountName(name, normaliseBaseUrl(sandboxOf(name).url));

  /** A worker of this account alone. */
  const alone = (name: string) => ({
    ownConnection: true,
    env: {
      MEDIA_BASE_URL: sandboxOf(name).url,
      MEDIA_API_KEY: keyOf(name),
      MEDIA_CREDENTIAL: name,
      MEDIA_ALLOWED_MEDIA_ORIGINS: originOf(name),
    },
  });

  async function writeAccounts(names: readonly string[], more: object = {}): Promise<void> {
    const accounts = names.map((name) => ({
      name,
      baseUrl: sandboxOf(name).url,
      keyFile: name,
      allowedMediaOrigins: [originOf(name)],
      ...more,
    }));
    await writeFile(`${file}.next`, JSON.stringify({ version: 1, accounts }));
    await rename(`${file}.next`, file);
  }

  async function startBoth(names: readonly string[] = NAMES, more: object = {}) {
    await writeAccounts(names, more);
    return stack.startWorker({ env: { MEDIA_BASE_URL: '', MEDIA_API_KEY: '', MEDIA_ACCOUNTS: file } });
  }

  async function video(account: string, prompt: string, options: object = {}): Promise<VideoOutcome> {
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    return (await stack.media.startVideo({ request, account, ...options })).result();
  }

  async function expectOwnKeysOnly(): Promise<void> {
    for (const { admin } of sandboxes) {
      const requests = await admin.requests();
      const withKey = requests.filter(({ origin }) => origin === 'api');
      expect(withKey.length).toBeGreaterThan(0);
      expect(withKey.filter(({ authorization }) => authorization !== 'valid')).toEqual([]);
      const links = requests.filter(({ origin }) => origin === 'media');
      expect(links.filter(({ authorization }) => authorization !== 'none')).toEqual([]);
    }
  }

  /** Videos of both accounts in turn, an image of each, and a campaign with rows of both. */
  async function buyWithBoth(): Promise<void> {
    const videos = Array.from({ length: VIDEOS }, (_, n) =>
      video(NAMES[n % 2] as string, `video ${n} of two accounts`),
    );
    const images = NAMES.map(async (account) => {
      const request = { model: 'image-2', prompt: `a picture of ${account}` };
      return (await stack.media.images.start({ request, account })).result();
    });
    const rows = NAMES.flatMap((account) => [
      { id: `${account} video`, model: 'cine-1', prompt: `a row of ${account}`, duration: 2, account },
      {
        id: `${account} image`,
        operation: 'image',
        model: 'image-2',
        prompt: `a drawn row of ${account}`,
        account,
      },
    ]);
    const campaign = startCampaign(stack, rows, { account: 'studio-b' }).then((handle) => handle.result());
    const ends = await Promise.all([...videos, ...images]);
    expect(ends.map(({ outcome }) => outcome)).toEqual(ends.map(() => 'completed'));
    const result = await campaign;
    expect(result.counts).toEqual({ completed: 4 });
    expect((await resultsOf(stack, result.results)).size).toBe(4);
    for (const { admin } of sandboxes) {
      const { creates, images: pictures } = await admin.counters();
      expect([creates.accepted, pictures.accepted]).toEqual([VIDEOS / 2 + 1, 2]);
    }
    await expectOwnKeysOnly();
  }

  it(
    '[C5.1] [C4.4a] served by two workers that have one each: everything completes, each key at its own service only',
    async () => {
      await stack.startWorker(alone('studio-a'));
      await stack.startWorker(alone('studio-b'));
      await buyWithBoth();
    },
    MAX_WAIT_MS,
  );

  it(
    '[C5.1] [C4.4a] served by one worker that has both: the same',
    async () => {
      const { media } = await startBoth();
      expect(media.accounts).toEqual(NAMES.map(fullName));
      await buyWithBoth();
    },
    MAX_WAIT_MS,
  );

  it(
    '[C5.2] a key is replaced and an account is added while the worker runs: the next calls have them',
    async () => {
      await startBoth(['studio-a']);
      expect(await video('studio-a', 'with the first key')).toMatchObject({ outcome: 'completed' });
      const waiting = video('studio-b', 'before its account is here');
      await writeFile(join(stack.dataDir, 'rotated'), 'the-second-key');
      await rename(join(stack.dataDir, 'rotated'), join(stack.dataDir, 'studio-a'));
      await sandboxOf('studio-a').admin.setApiKeys(['the-second-key']);
      expect(await video('studio-a', 'with the second key')).toMatchObject({ outcome: 'completed' });
      await writeAccounts(NAMES);
      expect(await waiting).toMatchObject({ outcome: 'completed', video: { account: fullName('studio-b') } });
      await expectOwnKeysOnly();
    },
    MAX_WAIT_MS,
  );

  it(
    'a video keeps its account while the file changes; without it nothing is sent, and it is not failed',
    async () => {
      await startBoth(NAMES);
      const id = stack.server.uniqueId('begun');
      const request = { model: 'cine-1', prompt: '[run:60s] begun with its account', durationSeconds: 2 };
      const started = await stack.media.startVideo({ request, account: 'studio-a' }, { id });
      const running = started.result();
      await expect(
        Promise.race([running, video('studio-b', 'of the other account').then(() => 'still running')]),
      ).resolves.toBe('still running');
      await writeAccounts(['studio-b']);
      // The worker looks at the file once a second: a poll tells that it has.
      await eventually(
        'a poll without the account',
        async () => {
          const { raw } = await stack.server.client.workflow.getHandle(id).describe();
          return raw.pendingActivities?.some(({ lastFailure }) =>
            lastFailure?.message?.includes('does not have the account'),
          );
        },
        MAX_WAIT_MS,
      );
      const sent = await sandboxOf('studio-a').admin.requests({ operation: 'create' });
      expect(await video('studio-a', 'without its account', { startLimit: '2s' })).toMatchObject({
        outcome: 'rejected',
        reason: 'account_not_configured',
        sends: 0,
      });
      expect(await sandboxOf('studio-a').admin.requests({ operation: 'create' })).toHaveLength(sent.length);
      await writeAccounts(NAMES);
      expect(await running).toMatchObject({ outcome: 'completed' });
    },
    MAX_WAIT_MS,
  );

  it(
    '[C1.7] the spend limit of an account holds for two workers together, and the other account goes on',
    async () => {
      // Each video is estimated at 0.10.
      const limit = { spendLimit: { amount: '0.35', currency: 'USD', per: 'month' } };
      await startBoth(NAMES, limit);
      await stack.startWorker({
        ownConnection: true,
        env: { MEDIA_BASE_URL: '', MEDIA_API_KEY: '', MEDIA_ACCOUNTS: file },
      });
      const ends = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          video('studio-a', `video ${n} within a limit`, { startLimit: '5s' }),
        ),
      );
      expect(ends.filter(({ outcome }) => outcome === 'completed')).toHaveLength(3);
      for (const end of ends)
        if (end.outcome !== 'completed')
          expect(end).toMatchObject({ outcome: 'rejected', reason: 'spend_limit', sends: 0 });
      expect(await sandboxOf('studio-a').admin.requests({ operation: 'create' })).toHaveLength(3);
      expect(await video('studio-b', 'of the other account')).toMatchObject({ outcome: 'completed' });
    },
    MAX_WAIT_MS,
  );
});
