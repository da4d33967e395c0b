import { explore, isFalselyRejected, SOUND } from './create-model';

/** Two epochs hold every race between two callers, their zombies, kills and a refusal of an earlier run. */
const EPOCHS = 2;

describe('two callers with one creation key, in every order of events', () => {
  const sound = explore(SOUND, EPOCHS);

  it('[C4.4a] the service accepts at most one create', () => {
    expect(sound.states).toBeGreaterThan(10_000);
    expect(sound.mostAccepted).toBe(1);
  });

  it('[C4.4c] nobody is told "rejected" when a send of its own may have been accepted', () => {
    expect(sound.falseRejections).toBe(0);
  });

  it('every end is reached, and both callers can get the one video', () => {
    expect([...sound.ends].sort()).toEqual(['bound', 'created', 'rejected', 'unconfirmed']);
    expect(sound.shared).toBe(true);
  });
});

describe('each part is needed', () => {
  it.each(['fence', 'createIfAbsent', 'journal'] as const)(
    'without the %s two creates are accepted',
    (part) => {
      const found = explore({ ...SOUND, [part]: false }, EPOCHS, ({ accepted }) => accepted > 1);
      expect(found.mostAccepted).toBeGreaterThan(1);
    },
  );

  it('a reconciliation of the first epoch alone would call a send of a later one rejected', () => {
    const found = explore({ ...SOUND, goesForward: false }, EPOCHS, isFalselyRejected);
    expect(found.falseRejections).toBeGreaterThan(0);
  });
});
