import { sumOf } from '../../src/domain/campaign/results';
import { campaignKeyPrefix } from '../../src/domain/creation-key';
import { startCampaign } from '../support/campaign';
import { describeDeep, proved } from '../support/proof';
import { STORES } from '../support/store-places';
import { booksOf, boughtAbove, judgeRows, paidLines, type serviceRows } from './campaign-kills/judge';
import { runKilledCampaign } from './campaign-kills/kill-campaign';
import { isUnclear } from './campaign-kills/manifest';
import { pollingGaps } from './campaign-kills/polling-gaps';
import { journalKeys, type KillSite, startKillSite } from './campaign-kills/site';
import { type Disturbance } from './campaign-resets/disturb';
import { seededRandom } from './kills/seeded-random';

const SEED = Number(process.env['PROOF_SEED'] ?? 1);
const ROWS = Number(process.env['PROOF_ROWS'] ?? 1_000);
const KILLS = Number(process.env['PROOF_KILLS'] ?? 20);
/** Besides the kills: at the beginning, in the middle and shortly before the end, and each reset keeps as much of the history. */
const DISTURBED: readonly (readonly [share: number, what: Disturbance])[] = [
  ...around(0, 'campaigns reset to their first task'),
  ...around(0.5, 'campaigns reset to half of their tasks'),
  ...around(0.9, 'campaigns reset to nine tenths of their tasks'),
];
const LIMIT_MS = 60 * 60_000;
const REPEAT = `PROOF_SIZE=deep PROOF_SEED=${SEED} PROOF_ROWS=${ROWS} PROOF_KILLS=${KILLS} npx jest --runTestsByPath test/proof/campaign-kills.test.ts`;

function around(share: number, reset: Disturbance): (readonly [number, Disturbance])[] {
  return [
    [share, reset],
    [share + 0.02, 'batches reset by hand'],
    [share + 0.04, 'campaigns terminated and started again'],
    [share + 0.06, 'batches terminated'],
    [share + 0.08, 'campaigns terminated and reset'],
  ];
}

/**
 * A campaign of videos, images and edits whose service loses replies, has no room and is away now and then, and whose
 * worker, server or both are killed at random times, while it is reset and terminated, and so are its batches. The service's log, the results and the books must agree to the
 * micro-unit, and nobody is asked about a row but where nobody can know.
 */
describeDeep('a campaign whose worker and server are killed at random times', () => {
  const counts: Record<string, number> = {};
  let site: KillSite | undefined;

  it(
    `[C4.4a] [C4.4c] buys every row at most once and accounts for all of it (${REPEAT})`,
    async () => {
      site = await startKillSite({
        timing: { queuedMs: 0, runningMs: 1_000 },
        videos: 'shared',
        faults: [
          { operation: 'create', times: 0, action: { type: 'delay', ms: 500 } },
          { operation: 'generate', times: 0, action: { type: 'delay', ms: 500 } },
          { operation: 'edit', times: 0, action: { type: 'delay', ms: 500 } },
        ],
      });
      const { stack } = site;
      const random = seededRandom(SEED);
      const started = Date.now();
      const campaign = await runKilledCampaign(site, {
        rows: ROWS,
        kills: KILLS,
        inFlight: ROWS / 5,
        disturbed: DISTURBED,
        random,
      });
      const { rows, result, decisions, id, input, disturbances } = campaign;
      const budget = input.budget?.microUnits ?? 0;

      // Before the operator decides about the rest.
      const first = await judgeRows(stack, rows, result.results);
      const aside = new Set([
        ...decisions.decided.keys(),
        ...[...first.lines.values()].flatMap(({ outcome, key }) => (outcome === 'unconfirmed' ? [key] : [])),
      ]);
      const killed = new Set(
        [...site.leftOpen].map((key) => key.slice(campaignKeyPrefix(id).length).replace(/\/\d+$/, '')),
      );
      const expected = new Set([...killed, ...bought(rows, first.service).filter(isUnclear)]);
      const wrong = [
        ...[...aside]
          .filter((key) => !expected.has(key))
          .map((key) => `${key}: set aside, and its fate is known`),
        // Two workers: what was open when one was killed may be of the other, which went on.
        ...[...expected]
          .filter((key) => !aside.has(key) && !(STORES !== 'files' && killed.has(key)))
          .map((key) => `${key}: not set aside`),
      ];
      const problems = [...first.problems, ...wrong];

      // Adopt what was accepted, declare the rest lost, and take those rows up again.
      const during = decisions.decided.size;
      await decisions.decideRest(result.results);
      const again = await startCampaign(
        stack,
        rows,
        { ...input, previous: result.results, select: { rows: 'again', outcomes: ['unconfirmed'] } },
        id,
      );
      const last = await again.result();
      const end = await judgeRows(stack, rows, last.results);
      problems.push(...decisions.problems, ...end.problems);
      let accepted = 0;
      let unequal = 0;
      for (const [key, line] of end.lines) {
        const seen = end.service.get(key)?.accepted ?? 0;
        accepted += seen;
        if (seen === paidLines(line).length) continue;
        unequal += 1;
        problems.push(`${key} (${line.outcome}): ${seen} accepted, ${paidLines(line).length} on the books`);
      }
      const { creates, images } = await stack.sandbox.admin.counters();
      const spent = sumOf(booksOf(end.lines.values()));
      if (spent > budget) problems.push(`${spent} micro-units spent of ${budget}`);

      const above = boughtAbove(budget, end);
      const payers = await payersOf(site.journal);
      const happened = (...what: Disturbance[]) => disturbances.filter((one) => what.includes(one)).length;
      const gaps = await pollingGaps(stack, site.outages);
      process.stdout.write(
        `polling gaps over restarts of the worker, ms: ${gaps.join(', ')}; counts ${JSON.stringify(last.counts)}; ${
          Date.now() - started
        } ms; seed ${SEED}\n`,
      );
      Object.assign(counts, {
        rows: rows.length,
        'batches that bought': payers.size,
        kills: campaign.kills.worker + campaign.kills.server + campaign.kills.both,
        'kills of the worker': campaign.kills.worker,
        'kills of the server': campaign.kills.server,
        'kills of both': campaign.kills.both,
        'kills at a continue-as-new or a hand back': campaign.atHandovers,
        'resets of the campaign':
          disturbances.length -
          happened('campaigns terminated and started again', 'batches reset by hand', 'batches terminated'),
        'campaigns terminated and started again': happened('campaigns terminated and started again'),
        'batches reset by hand': happened('batches reset by hand'),
        'batches terminated': happened('batches terminated'),
        'rows without a result': rows.length - end.lines.size,
        'rows hit inside the window': killed.size,
        'rows set aside': aside.size,
        'set aside although their fate is known, or the reverse': wrong.length,
        'decided while it ran': during,
        'adopted or declared lost': decisions.decided.size,
        'paid calls accepted': creates.accepted + images.accepted,
        'accepted and not on the books, or booked and not accepted': unequal,
        'rows bought for money that is not there': above,
        'micro-units above the budget': Math.max(0, spent - budget),
        'micro-units by which totals and books differ': Math.abs(spent - sumOf(last.money)),
      });
      expect(problems).toEqual([]);
      expect(accepted).toBe(creates.accepted + images.accepted);
      expect(disturbances).toHaveLength(DISTURBED.length);
      expect(payers.size).toBeGreaterThan(3);
    },
    LIMIT_MS,
  );

  afterAll(async () => {
    await site?.stop();
    proved('campaign-kills', counts);
  });
});

/** Batches that were to pay for a send. */
async function payersOf(journal: string): Promise<ReadonlySet<string>> {
  const payers = new Set<string>();
  for (const log of (await journalKeys(journal)).values())
    for (const entry of log)
      if (entry.kind === 'intent' && entry.payer !== undefined) payers.add(entry.payer);
  return payers;
}

/** Rows of which a paid call reached the service. */
function bought(
  rows: readonly { readonly [column: string]: unknown }[],
  service: Awaited<ReturnType<typeof serviceRows>>,
): string[] {
  return rows.map(({ id }) => id as string).filter((id) => (service.get(id)?.calls.length ?? 0) > 0);
}
