import { type CampaignRowResult } from '../../src/domain/campaign/row';
import { rowCreationKey } from '../../src/domain/creation-key';
import { type PaidRequest } from '../../src/domain/request';
import { type IsFirstText, type PreviousRow, resumeRows } from '../../src/manifest/previous-results';

const campaign = 'spring';
const key = 'r';
const call: PaidRequest = {
  operation: 'create_video',
  request: { model: 'cine-1', prompt: 'first words', durationSeconds: 4 },
};
const identity = { key, content: 'a'.repeat(64), call };

/** All that results have of it: another text was shown as `changed`, and something was bought under its first key. */
const ledger: CampaignRowResult['ledger'] = [
  {
    attempt: 0,
    creationKey: rowCreationKey(campaign, identity, 0),
    taskId: null,
    outcome: 'failed',
    estimate: 200_000,
    actual: null,
    state: 'needs_review',
  },
];
const shown: PreviousRow = {
  outcome: 'changed',
  bought: true,
  temporary: false,
  rebought: false,
  content: undefined,
  read: () => Promise.resolve({ outcome: 'changed', ledger } as unknown as CampaignRowResult),
};

describe('a row of which all results saw another text than the one that was bought', () => {
  const missing = { rows: 'missing' } as const;
  const taken = (rebuyChanged: boolean, isFirstText?: IsFirstText, previous = shown) =>
    resumeRows(identity, previous, {
      campaign,
      select: missing,
      rebuyChanged,
      ...(isFirstText !== undefined && { isFirstText }),
    });
  const yes: IsFirstText = () => Promise.resolve(true);

  it.each([false, true])(
    '[C4.4a] goes on under its first key where its words come back, and costs nothing more (rebuyChanged: %s)',
    async (rebuyChanged) => {
      expect(await taken(rebuyChanged, yes)).toEqual({
        kind: 'taken',
        attempt: 0,
        mayBeBought: true,
        hasTask: true,
        was: { outcome: 'changed', ledger },
      });
    },
  );

  it.each<[string, IsFirstText | undefined]>([
    ['the journal knows other words', () => Promise.resolve(false)],
    ['nobody can say', undefined],
  ])('is changed where %s', async (_why, isFirstText) => {
    expect(await taken(false, isFirstText)).toMatchObject({ changed: true });
    expect(await taken(true, isFirstText)).toMatchObject({ attempt: 0, rebought: true, hasTask: false });
  });

  it('the journal is asked of no row whose text is known or that was never bought', async () => {
    const never: IsFirstText = () => Promise.reject(new Error('asked'));
    expect(await taken(false, never, { ...shown, content: 'other' })).toMatchObject({ changed: true });
    expect(await taken(false, never, { ...shown, content: identity.content })).toMatchObject({ attempt: 0 });
    expect(await taken(false, never, { ...shown, bought: false })).toMatchObject({ attempt: 1 });
  });
});
