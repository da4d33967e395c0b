import { openArtifactStore, openJournal } from '../../../src/stores';

/** A folder of that name would be made in the working directory, and be gone with a container. */
describe('an address that is written by half', () => {
  it.each([
    '"postgres://app:secret-word@db/x"',
    "'s3://bucket/prefix'",
    'postgres:/app:secret-word@db/x',
    '//app:secret-word@db/x',
  ])('is no folder: %s', async (place) => {
    const refusals = [
      openJournal({ journal: place, journalShared: false }),
      openArtifactStore({ artifacts: place, dataDir: '/nowhere', cacheBytes: undefined }),
    ];
    for (const refused of refusals) {
      const error = await refused.then(
        () => new Error('opened'),
        (thrown: unknown) => thrown as Error,
      );
      expect(error.message).toMatch(/neither a folder nor a complete address.*without quotes/);
      expect(error.message).not.toContain('secret-word');
    }
  });

  it.each(['relative/journal', '/absolute/journal', 'C:/journal', './with@sign'])(
    '%s is one',
    async (place) => {
      expect((await openJournal({ journal: place, journalShared: false })).kind).toBe('file');
    },
  );
});
