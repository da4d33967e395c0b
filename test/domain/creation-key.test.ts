import fc from 'fast-check';
import {
  activityKey,
  campaignKeyPrefix,
  givenKeyIssue,
  rowCreationKey,
  runKey,
} from '../../src/domain/creation-key';

/** Parts that look like pieces of keys, so that two keys come close to each other. */
const part = fc
  .array(
    fc.constantFrom('a', 'b', '0', '1', '/', '%', '%2F', '@', 'media-run/', 'media-activity/', 'media-row/'),
    {
      maxLength: 4,
    },
  )
  .map((pieces) => pieces.join(''));
const count = fc.nat({ max: 2 });
const CONTENT = 'c'.repeat(64);

/** Every maker of keys, with what it is given. */
const made = fc.oneof(
  fc.tuple(fc.constant('run'), part, part, count).map(([kind, workflowId, runId, ordinal]) => ({
    of: JSON.stringify([kind, workflowId, runId, ordinal]),
    key: runKey(workflowId, runId, ordinal),
    workflowId,
  })),
  fc.tuple(fc.constant('activity'), part, part, part).map(([kind, workflowId, runId, activityId]) => ({
    of: JSON.stringify([kind, workflowId, runId, activityId]),
    key: activityKey(workflowId, runId, activityId),
    workflowId,
  })),
  fc
    .tuple(fc.constant('row'), part, part, fc.boolean(), count)
    .map(([kind, campaign, key, rebought, attempt]) => ({
      of: JSON.stringify([kind, campaign, key, rebought, attempt]),
      key: rowCreationKey(campaign, { key, content: CONTENT, ...(rebought && { rebought }) }, attempt),
      workflowId: campaign,
    })),
);

describe('creation keys', () => {
  it('[C4.4a] two calls have two keys, whichever kinds they are of', () => {
    fc.assert(
      fc.property(made, made, (one, other) => {
        expect(one.key === other.key).toBe(one.of === other.of);
      }),
    );
  });

  it('[C4.4a] no key that a caller gives is one that is made, but that of the workflow that hands it on', () => {
    fc.assert(
      fc.property(made, part, ({ key, workflowId }, other) => {
        expect(givenKeyIssue(key)).toContain('Nothing was sent');
        const isRun = key.startsWith('media-run/');
        expect(givenKeyIssue(key, workflowId) === undefined).toBe(isRun);
        expect(givenKeyIssue(key, other) === undefined).toBe(isRun && other === workflowId);
      }),
    );
  });

  it.each(['order-9', 'row:17', 'a/b/0', 'media-2024', ''])(
    'a key such as %j is the caller’s own',
    (given) => {
      expect(givenKeyIssue(given)).toBeUndefined();
    },
  );

  it('reads as what it was made of, and goes through a shell as it is', () => {
    const keys = [
      runKey('orders/9', 'f00d', 1),
      activityKey('orders/9', 'f00d', '3'),
      activityKey(null, 'f00d', 'x'),
    ];
    expect(keys).toEqual([
      'media-run/orders%2F9/f00d/1',
      'media-activity/orders%2F9/f00d/3',
      // Without a workflow its id is what its caller gave.
      'x',
    ]);
    expect(campaignKeyPrefix('spring')).toBe('media-row/spring/');
    for (const key of keys) expect(key).toMatch(/^[\w./:=@%+,-]+$/);
  });
});
