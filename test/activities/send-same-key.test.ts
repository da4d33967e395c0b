import { isSameCall, unknownCall, withSameKey } from '../../src/activities/send-same-key';
import { claimIntent } from './claim-intent';

describe('a call of unknown fate, to be sent again under its key', () => {
  const now = Date.now();
  const opened = (sendWindowEnd: number): Parameters<typeof unknownCall>[0] => ({
    do: 'pending',
    sendAttempt: 1,
    intents: ['ours'],
    claim: claimIntent({
      at: new Date(now).toISOString(),
      sendWindowEnd: new Date(sendWindowEnd).toISOString(),
      idempotency: { header: 'Idempotency-Key', lastSendAt: new Date(now + 3_600_000).toISOString() },
    }),
  });

  it('[C4.4a] is left to its sender while that may be alive: it may yet prove that nothing was sent', () => {
    expect(unknownCall(opened(now + 60_000), now)).toBeUndefined();
  });

  it('[C4.4a] is not sent again where it may arrive after the window, because its model may take longer by now', () => {
    const idempotency = { header: 'Idempotency-Key', honoured: true, windowSeconds: 120 } as const;
    const claim = claimIntent({
      at: new Date(now).toISOString(),
      idempotency: { header: 'Idempotency-Key', lastSendAt: new Date(now + 50_000).toISOString() },
    });
    const call = { account: claim.account, bodyHash: claim.bodyHash, idempotency };
    expect(isSameCall(claim, { ...call, budgetMs: 60_000 }, now)).toBe(true);
    expect(isSameCall(claim, { ...call, budgetMs: 300_000 }, now)).toBe(false);
  });

  it('[C4.4a] is not called so any more once the time for it is over, whatever was said of it before', () => {
    const [before, over] = [now + 3_600_000, now - 1].map((at) => new Date(at).toISOString());
    const found = unknownCall(opened(now - 1), now);
    if (found === undefined || before === undefined || over === undefined) throw new Error('It may be sent.');
    expect(found.unknown.sameKeyUntil).toBe(before);
    const claim = { ...found.claim, idempotency: { header: 'Idempotency-Key', lastSendAt: over } };
    expect(withSameKey(found.unknown, claim, now).sameKeyUntil).toBeUndefined();
  });

  it('[C4.4b] is sent again once its sender has no time left', () => {
    expect(unknownCall(opened(now - 1), now)?.unknown).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 1,
    });
  });
});
