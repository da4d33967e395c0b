import { evidence } from '../../src/domain/paid-call';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { answers } from '../domain/create-answers';
import { decisionEntry } from '../support/log-entries';
import { at, CheckBench, kinds } from './money/check-bench';

/** `unconfirmed adopt` refuses a send that was decided before (test/activities/resolve-unconfirmed.test.ts). */
describe('money check and sends that a person resubmitted', () => {
  let bench: CheckBench;

  beforeEach(async () => {
    bench = await CheckBench.open();
  });
  afterEach(() => bench.close());

  async function resubmitted(creationKey: string): Promise<void> {
    const headers = { 'x-request-id': `req-of-${creationKey}` };
    const lost = { ...answers.unconfirmed(0), evidence: evidence('http_502', { httpStatus: 502, headers }) };
    await bench.calls({ creationKey, answer: lost });
    const key = { namespace: 'default', creationKey };
    const decision = decisionEntry({ about: `send of ${creationKey}` });
    await createFileJournal({ root: bench.root }).append(key, 2, decision);
  }

  const file = (amount = '0.10') =>
    bench.invoice([`${at(0)},x,req-of-a,${amount},USD`], 'time,task_id,request_id,amount,currency');

  test('one that is billed all the same differs until its bill is recorded, and is not to be adopted', async () => {
    await resubmitted('a');
    const found = await bench.check(await file());
    expect([found.code, kinds(found.data)]).toEqual([8, [['unconfirmed', 2, 'a']]]);
    expect(found.data.findings[0]?.note).toMatch(/^A person resubmitted it, and it is billed all the same/);
    expect(JSON.stringify(found.reply)).not.toContain('adopt');
    const args = ['--apply', '--reference', 'one'];
    expect((await bench.check(await file(), ...args)).data.applied).toEqual({ recorded: 1, amount: 100_000 });
    const again = await bench.check(await file(), ...args);
    expect([again.code, again.data.findings]).toEqual([0, []]);
  });

  test('its amount is still compared after its bill is recorded', async () => {
    await resubmitted('a');
    await bench.check(await file('0.17'), '--apply');
    const again = await bench.check(await file('0.17'));
    expect([again.code, kinds(again.data)]).toEqual([8, [['amount', 2, 'a']]]);
  });

  test('one without a bill is not to be decided again, also beside a line that it may explain', async () => {
    await resubmitted('a');
    const line = await bench.invoice([`${at(1)},theirs,cine-1,0.10,USD`]);
    const { data } = await bench.check(line);
    expect(kinds(data)).toEqual([
      ['unknown', 2, null],
      ['under_review', null, 'a'],
    ]);
    expect(data.findings[0]?.note).toBe('Perhaps the resubmitted call a.');
    expect(data.findings[1]?.note).toMatch(/^unconfirmed: A person resubmitted it, .*money settle/);
  });
});
