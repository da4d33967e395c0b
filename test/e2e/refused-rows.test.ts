import { received } from '../support/accepted';
import { startCampaign, resultsOf, type Row } from '../support/campaign';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

/**
 * A firewall before the service refuses some prompts with a page and status 403, and 404 elsewhere: that says nothing
 * about the account (ADR 16).
 */
describe('rows that a firewall refuses', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } });
  const PAGE = '<!doctype html><title>Request blocked</title><h1>403</h1>';
  const HEADERS = { 'content-type': 'text/html' };
  /** Half of what one probe a minute would take. */
  const SOON_MS = 30_000;

  it.each([
    [403, 'credentials'],
    [404, 'invalid_request'],
  ])(
    '[C7.3] with HTTP %d hold nobody back: the others are bought, and they end after a few sends each',
    async (status, reason) => {
      const media = await stack();
      await media.sandbox.admin.addFaults([
        {
          operation: 'create',
          promptIncludes: `forbidden ${status}`,
          times: 0,
          action: { type: 'status', status, body: PAGE, headers: HEADERS },
        },
      ]);
      // The first, when nothing is known of the account, and the last, when no other is left to be accepted.
      const isForbidden = (row: number): boolean => row < 3 || row > 56;
      const rows: Row[] = Array.from({ length: 60 }, (_, row) => ({
        id: `row-${row}`,
        model: 'cine-1',
        prompt: `${isForbidden(row) ? 'forbidden' : 'a harmless'} ${status} number ${row}`,
        duration: 2,
      }));
      const forbidden = rows.filter((_, row) => isForbidden(row));
      const campaign = await startCampaign(media, rows);
      const alone = await media.media.startVideo({
        request: { model: 'cine-1', prompt: `alone ${status}`, durationSeconds: 2 },
      });
      await eventually(
        'the video of another caller',
        async () => (await alone.result()).outcome === 'completed',
        SOON_MS,
      );
      const { counts, results } = await campaign.result();
      expect(counts).toEqual({ completed: rows.length - forbidden.length, rejected: forbidden.length });
      const lines = await resultsOf(media, results);
      for (const { id, prompt } of forbidden) {
        expect(lines.get(String(id))).toMatchObject({ outcome: 'rejected', reason });
        expect(await received(media, String(prompt))).toBeLessThanOrEqual(5);
      }
    },
  );
});
