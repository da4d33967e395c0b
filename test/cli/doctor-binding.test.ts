import { defaultPayloadConverter } from '@temporalio/common';
import { type FoundLedger, ledgerOf } from '../../src/binding/ledger';
import { type Finding } from '../../src/cli/doctor/check';
import { checkBinding, type OwnSide } from '../../src/cli/doctor/temporal';
import { type Ledger, nextLedger } from '../../src/domain/journal-binding';
import { ODD_VALUES } from '../support/odd-values';

/** What a script would see. */
const seen = (finding: Finding): readonly unknown[] => [
  finding.state,
  ...('errorType' in finding ? [finding.errorType] : []),
];

describe('the binding of the journal', () => {
  const own = (journalId: string) => ({ journalId, hostId: 'h' });
  const asked = (journalId: string, rebind?: true) => ({
    ...own(journalId),
    artifacts: null,
    accounts: [],
    mark: null,
    ...(rebind && { rebind }),
  });
  const payloadOf = (value: unknown) => defaultPayloadConverter.toPayload(value);
  const signalled = (value: unknown, payload = payloadOf(value)) => ({
    eventTime: { seconds: 60, nanos: 0 },
    workflowExecutionSignaledEventAttributes: { signalName: 'bind', input: { payloads: [payload] } },
  });
  const bind = (journalId: string, rebind?: true) => signalled(asked(journalId, rebind));
  const undecodable = signalled(null, {
    metadata: { encoding: Buffer.from('binary/encrypted') },
    data: Buffer.from('?'),
  });
  const odd = { workflowExecutionStartedEventAttributes: { input: { payloads: [payloadOf(null)] } } };
  const started = (carried: Ledger | null = null) => ({
    workflowExecutionStartedEventAttributes: {
      input: { payloads: [defaultPayloadConverter.toPayload({ carried })] },
    },
  });
  const ledger = (journalId: string): Ledger =>
    nextLedger(null, asked(journalId), '1970-01-01T00:01:00.000Z');

  test.each([
    ['nothing yet', [started()], null],
    ['the first one', [started(), bind('a')], 'a'],
    ['a refused one changes nothing', [started(), bind('a'), bind('b')], 'a'],
    ['a rebind does', [started(), bind('a'), bind('b', true), bind('a')], 'b'],
    ...ODD_VALUES.map((odd): [string, unknown[], string] => [
      'what no worker sent is skipped',
      [started(), signalled(odd), bind('a'), signalled(odd)],
      'a',
    ]),
    ['and what cannot be decoded', [started(), undecodable, bind('a')], 'a'],
    ['nothing in a ledger that somebody else has started', [odd, bind('a')], 'a'],
    ['carried over from a ledger that was ended from outside', [started(ledger('c')), bind('a')], 'c'],
  ])('%s', (_title, events, expected) => {
    expect(ledgerOf(events as never)).toEqual(expected === null ? null : ledger(expected));
  });

  const found: FoundLedger = {
    is: 'open',
    runId: 'r',
    length: 3,
    ledger: { ...ledger('a'), artifacts: 'store', accounts: ['one', 'two'] },
  };
  const side = (change: Partial<OwnSide> = {}): OwnSide => ({
    journal: { ...own('a'), isSetBack: false },
    artifacts: 'store',
    accounts: [],
    ...change,
  });

  test('another journal, another host, an earlier copy, another artifact store and no journal fail', () => {
    expect(seen(checkBinding({ is: 'missing' }, side({ journal: null }), 'q'))).toEqual(['ok']);
    expect(seen(checkBinding(found, side(), 'q'))).toEqual(['ok']);
    for (const [other, words] of [
      [{ journal: { ...own('b'), isSetBack: false } }, 'another journal'],
      [{ journal: { journalId: 'a', hostId: 'other', isSetBack: false } }, 'another host'],
      [{ journal: { ...own('a'), isSetBack: true } }, 'an earlier copy'],
      [{ artifacts: 'another store' }, 'MEDIA_ARTIFACTS'],
      [{ journal: null }, 'none yet'],
    ] as const) {
      const finding = checkBinding(found, side(other), 'q');
      expect(seen(finding)).toEqual(['failed', 'journal_binding']);
      expect(finding.message).toContain(words);
    }
  });

  test('accounts that other workers of the queue have served are named', () => {
    const finding = checkBinding(found, side({ accounts: ['one'] }), 'q');
    expect(finding.state).toBe('warning');
    expect(finding.message).toContain('workers for two');
  });
});
