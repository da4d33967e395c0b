import { type CampaignInput } from '../../src/domain/campaign/plan';
import { NO_MONEY } from '../../src/domain/campaign/results';
import { type CampaignResult, resultsOf, type Row, startCampaign, storedManifest } from '../support/campaign';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

/** Micro-units of one of these films. */
const PRICE = 100_000;
const film = (id: string, prompt: string): Row => ({ id, model: 'cine-1', prompt, duration: 2 });

/** One id run again and again: by a client, which knows what came before, and as a workflow or a Schedule does. */
describe('a campaign that is run again under its id', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 }, videos: 'shared' } });

  async function accepted(media: MediaStack, text: string): Promise<number> {
    const requests = await media.sandbox.admin.requests();
    return requests.filter(({ operation, status, json }) => {
      const { prompt } = (json ?? {}) as { prompt?: unknown };
      return operation === 'create' && (status ?? 0) < 300 && String(prompt).startsWith(text);
    }).length;
  }

  const byClient = async (
    media: MediaStack,
    id: string,
    rows: readonly Row[],
    more: Partial<CampaignInput> = {},
  ): Promise<CampaignResult> => {
    const manifest = await storedManifest(media, rows);
    return (await media.media.campaigns.start({ manifest, ...more }, { id })).result();
  };
  const bare = async (
    media: MediaStack,
    id: string,
    rows: readonly Row[],
    more: Partial<CampaignInput> = {},
  ): Promise<CampaignResult> => (await startCampaign(media, rows, more, id)).result();

  it.concurrent('[C4.4a] without the earlier results: nothing is bought twice, and what is new is bought', async () => {
    const media = await stack();
    const id = media.server.uniqueId('bare');
    const text = (words: string) => `${id} ${words}`;
    const rows = (edited: boolean) => [
      film('same', text('same')),
      film('edited', text(edited ? 'edited' : 'first words')),
    ];
    const first = await bare(media, id, [...rows(false), film('dropped', text('dropped'))]);
    expect(first.counts).toEqual({ completed: 3 });

    const second = await bare(media, id, [...rows(true), film('added', text('added'))]);
    expect(second.counts).toEqual({ completed: 2, changed: 1 });
    expect(await accepted(media, id)).toBe(4);
    const lines = await resultsOf(media, second.results);
    expect(lines.get('same')).toMatchObject({ outcome: 'completed', artifacts: [expect.anything()] });
    // It is the one whose results count now, for whoever follows.
    const { sha256 } = (await resultsOf(media, first.results)).get('same')?.artifacts[0] ?? {};
    expect(lines.get('same')?.artifacts[0]?.sha256).toBe(sha256);

    const third = await byClient(media, id, [...rows(true), film('dropped', text('dropped'))], {
      rebuyChanged: true,
    });
    expect(third.counts).toEqual({ completed: 4 });
    expect(await accepted(media, id)).toBe(5);
    expect(await accepted(media, text('edited'))).toBe(1);

    const fourth = await bare(media, id, rows(true));
    expect(fourth.counts['completed']).toBeGreaterThanOrEqual(1);
    expect(await accepted(media, id)).toBe(5);
  });

  it.concurrent('[C4.4a] with the earlier results: totals and budget go on, and an edited row is bought again on demand', async () => {
    const media = await stack();
    const id = media.server.uniqueId('known');
    const text = (words: string) => `${id} ${words}`;
    const budget = { microUnits: 4 * PRICE, currency: 'USD' };
    const first = await bare(media, id, [film('a', text('a')), film('b', text('b'))], { budget });
    expect(first.money.estimated).toBe(2 * PRICE);

    const previous = await media.media.campaigns.results(id);
    const edited = [film('b', text('b edited')), film('c', text('c')), film('d', text('d'))];
    const second = await bare(media, id, edited, { budget, previous, rebuyChanged: true, concurrency: 1 });
    // Rows that the manifest does not have any more count, and so does what they cost.
    expect(second.money.estimated).toBe(4 * PRICE);
    expect(second.counts['skipped_budget']).toBe(1);
    expect(await accepted(media, id)).toBe(4);

    const third = await byClient(media, id, edited, { budget: { ...budget, microUnits: 5 * PRICE } });
    expect([third.counts, third.money.estimated]).toEqual([{ completed: 4 }, 5 * PRICE]);
    expect((await resultsOf(media, third.results)).size).toBe(4);
    expect(await accepted(media, id)).toBe(5);
  });

  it.concurrent.each([false, true])(
    '[C4.4a] words that come back are those that were bought, although no results tell of them (rebuyChanged: %s)',
    async (rebuyChanged) => {
      const media = await stack();
      const id = media.server.uniqueId('back');
      const first = [film('a', `${id} first words`)];
      expect((await bare(media, id, first)).counts).toEqual({ completed: 1 });
      expect((await bare(media, id, [film('a', `${id} other words`)])).counts).toEqual({ changed: 1 });
      const third = await byClient(media, id, first, { rebuyChanged });
      expect(third.counts).toEqual({ completed: 1 });
      expect(await accepted(media, id)).toBe(1);
      expect(third.money).toEqual({ ...NO_MONEY, estimated: PRICE, estimate: PRICE });
    },
  );

  it.concurrent('[C4.4a] a row that the first plan holds open is in no other plan', async () => {
    const media = await stack();
    const id = media.server.uniqueId('held');
    const failed = await bare(media, id, [film('a', `[fail:invalid] ${id}`)]);
    expect(failed.counts).toEqual({ failed: 1 });

    const previous = await media.media.campaigns.results(id);
    const again = await startCampaign(
      media,
      [film('a', `${id} edited`)],
      { previous, rebuyChanged: true },
      id,
    );
    await again.executeUpdate('resumeRows', { args: [{ select: { rows: 'retry' } }] });
    expect((await again.result()).counts).toEqual({ completed: 1 });
    expect(await accepted(media, id)).toBe(1);
  });
});
