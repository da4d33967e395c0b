import { storeSecrets, withoutSecrets } from '../../packages/cli/src/shared/errors';

describe('[C5.4a] the secrets of the stores', () => {
  it.each([
    ['postgres://app:Sup3r/Secret@db/x', ['Sup3r/Secret']],
    ['postgresql://app:pa%40ss@db/x', ['pa%40ss', 'pa@ss']],
    ['"postgres://app:word@db/x"', ['word']],
    ['postgres://app@db/x', []],
    ['s3://bucket/prefix', []],
    ['/var/journal', []],
  ])('in MEDIA_JOURNAL=%s', (journal, secrets) => {
    expect(storeSecrets({ MEDIA_JOURNAL: journal })).toEqual(secrets);
  });

  it('are those of libpq and of the AWS SDK too, and no message of a command shows them', () => {
    const env = {
      MEDIA_JOURNAL: 'postgres://app:word-1@db/x',
      PGPASSWORD: 'word-2',
      AWS_SECRET_ACCESS_KEY: 'word-3',
      AWS_SESSION_TOKEN: 'word-4',
      AWS_ACCESS_KEY_ID: 'shown',
    };
    expect(storeSecrets(env)).toEqual(['word-1', 'word-2', 'word-3', 'word-4']);
    expect(withoutSecrets('word-1 word-2 word-3 word-4 shown', env)).not.toMatch(/word-/);
  });
});
