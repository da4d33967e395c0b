import { type Finding } from '../../packages/cli/src/doctor/check';
import { checkBinding, type OwnSide } from '../../packages/cli/src/doctor/temporal';
import { nextQueueBinding } from '../../src/domain/journal';

/** What a script would see. */
const seen = (finding: Finding): readonly unknown[] => [
  finding.state,
  ...('errorType' in finding ? [finding.errorType] : []),
];

describe('the binding of the journal', () => {
  const own = (journalId: string) => ({ journalId, hostId: 'h' });
  const asked = { ...own('a'), artifacts: 'store', accounts: ['one', 'two'], mark: null };
  const queueBinding = nextQueueBinding(null, asked, '1970-01-01T00:01:00.000Z');
  const side = (change: Partial<OwnSide> = {}): OwnSide => ({
    journal: { ...own('a'), isSetBack: false },
    artifacts: 'store',
    accounts: [],
    ...change,
  });

  test('another journal, another host, an older copy, another artifact store and no journal fail', () => {
    expect(seen(checkBinding(null, side({ journal: null }), 'q'))).toEqual(['ok']);
    expect(seen(checkBinding(queueBinding, side(), 'q'))).toEqual(['ok']);
    for (const [other, words] of [
      [{ journal: { ...own('b'), isSetBack: false } }, 'a different journal'],
      [{ journal: { journalId: 'a', hostId: 'other', isSetBack: false } }, 'another host'],
      [{ journal: { ...own('a'), isSetBack: true } }, 'an older copy'],
      [{ artifacts: 'another store' }, 'MEDIA_ARTIFACTS'],
      [{ journal: null }, 'has no journal yet'],
    ] as const) {
      const finding = checkBinding(queueBinding, side(other), 'q');
      expect(seen(finding)).toEqual(['failed', 'journal_binding']);
      expect(finding.message).toContain(words);
    }
  });

  test('accounts that other workers of the queue have served are named', () => {
    const finding = checkBinding(queueBinding, side({ accounts: ['one'] }), 'q');
    expect(finding.state).toBe('warning');
    expect(finding.message).toContain('workers for two');
  });
});
