import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configOfAccount, readAccountOptions, readAccountsFile } from '../../src/settings/accounts';
import { readConfig } from '../../src/settings/config';

describe('the file of accounts', () => {
  let dir: string;
  let file: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'temporal-media-accounts-'));
    file = join(dir, 'accounts.json');
    await writeFile(join(dir, 'a.key'), ' key-of-a\n');
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const A = { name: 'studio-a', baseUrl: 'https://a.example/v1/', keyFile: 'a.key' };
  const write = (...accounts: object[]) => writeFile(file, JSON.stringify({ version: 1, accounts }));
  const problemOf = (read: () => unknown): string => {
    try {
      read();
    } catch (error) {
      expect((error as Error).name).toBe('ConfigurationError');
      return (error as Error).message;
    }
    throw new Error('It was accepted.');
  };

  it('names accounts with a key file, relative to its folder, and everything that may differ', async () => {
    const limit = { amount: '25.00', currency: 'USD', per: 'day' };
    await write(A, {
      ...A,
      name: 'studio-b',
      models: 'models.json',
      allowedMediaOrigins: ['https://media.example'],
      createsPerSecond: 0.5,
      spendLimit: limit,
      policy: { on502: 'fail' },
    });
    const [a, b] = readAccountsFile(file);
    expect(a).toMatchObject({
      credential: 'studio-a',
      baseUrl: 'https://a.example',
      allowedMediaOrigins: [],
    });
    expect(a?.apiKey()).toBe('key-of-a');
    expect(b).toMatchObject({
      models: join(dir, 'models.json'),
      createsPerSecond: 0.5,
      spendLimit: { microUnits: 25_000_000, currency: 'USD', per: 'day' },
      policy: { on502: 'fail' },
    });
  });

  it('reads the key at every use, and says of a broken one which account it is, never what it holds', async () => {
    await write(A);
    const [a] = readAccountsFile(file);
    await writeFile(join(dir, 'a.key'), 'the next key');
    expect(problemOf(() => a?.apiKey())).toBe(
      'MEDIA_ACCOUNTS: the key of account studio-a contains spaces or characters that are not allowed in a header.',
    );
    await writeFile(join(dir, 'a.key'), 'the-next-key');
    expect(a?.apiKey()).toBe('the-next-key');
    await rm(join(dir, 'a.key'));
    expect(problemOf(() => a?.apiKey())).toContain('the keyFile of account studio-a cannot be read');
  });

  it.each<[string, object, RegExp]>([
    ['a key in the file', { ...A, apiKey: 'sk-open-sesame' }, /"apiKey"[^]*accounts\[0\]/],
    ['a name with @', { ...A, name: 'a@b' }, /letters, digits[^]*accounts\[0\]\.name/],
    [
      'an address with a password',
      { ...A, baseUrl: 'https://u:open-sesame@a.example' },
      /user name[^]*baseUrl/,
    ],
    ['no key file', { name: 'a', baseUrl: 'https://a.example' }, /keyFile/],
    ['a rate of 0', { ...A, createsPerSecond: 0 }, /greater than 0[^]*createsPerSecond/],
    [
      'an amount that is a number',
      { ...A, spendLimit: { amount: 25, currency: 'USD', per: 'day' } },
      /string[^]*spendLimit\.amount/,
    ],
    [
      'an unknown period',
      { ...A, spendLimit: { amount: '1', currency: 'USD', per: 'week' } },
      /hour[^]*day[^]*month[^]*per/,
    ],
    [
      // Both would count in one log, so that each call counts twice.
      'two limits of a label for one period',
      {
        ...A,
        limits: [
          { label: 'tenant', each: '10USD', per: 'day' },
          { label: 'tenant', values: { acme: '100USD' }, per: 'day' },
        ],
      },
      /one entry for a label and period: put exceptions into its `values`[^]*limits/,
    ],
    ['a limit of a label without an amount', { ...A, limits: [{ label: 'tenant', per: 'day' }] }, /`each`/],
    ['an unknown policy', { ...A, policy: { on502: 'maybe' } }, /inspect[^]*policy\.on502/],
  ])(
    '[C5.4a] %s is refused: the message names the field and what is allowed, and no secret',
    async (_what, account, words) => {
      await write(account);
      const message = problemOf(() => readAccountsFile(file));
      expect(message).toMatch(words);
      expect(message).not.toContain('open-sesame');
    },
  );

  it('[C5.4a] a file that is not JSON, or is not there, is refused without a word of it', async () => {
    await writeFile(file, '{"version": 1, "accounts": [ open-sesame');
    expect(problemOf(() => readAccountsFile(file))).toMatch(/is not JSON/);
    expect(problemOf(() => readAccountsFile(file))).not.toContain('sesame');
    expect(problemOf(() => readAccountsFile(join(dir, 'none.json')))).toMatch(/cannot be read/);
  });

  it('a name that is given twice is refused: which limit is meant is unknown', async () => {
    const twice = JSON.stringify({ version: 1, accounts: [A] }).replace('"name"', '"per":1,"per":2,"name"');
    await writeFile(file, `\ufeff${twice}`);
    expect(problemOf(() => readAccountsFile(file))).toContain('the file contains accounts.per twice.');
  });

  it('two accounts of one name are refused', async () => {
    await write(A, { ...A, baseUrl: 'https://b.example' });
    expect(problemOf(() => readAccountsFile(file))).toContain('two accounts have the name studio-a');
  });

  it('in code an account has a function instead of a file, or a file, and one of them', () => {
    const { keyFile: _file, ...given } = A;
    const [one] = readAccountOptions([{ ...given, apiKey: () => ' in-code ' }]);
    expect(one?.apiKey()).toBe('in-code');
    expect(problemOf(() => readAccountOptions([given]))).toContain('exactly one of apiKey and keyFile');
    expect(problemOf(() => readAccountOptions([{ ...A, apiKey: () => 'k' }]))).toContain(
      'needs exactly one of apiKey and keyFile',
    );
  });

  it('the settings of one account are those of the worker where it has none of its own', async () => {
    await write({ ...A, policy: { on502: 'fail' } }, { ...A, name: 'studio-b', models: 'b.json' });
    const config = readConfig({
      MEDIA_ACCOUNTS: file,
      MEDIA_MODELS: '/models.json',
      MEDIA_CREATE_POLICY: '{"on504":"fail"}',
    });
    expect(configOfAccount(config, 'studio-a')).toMatchObject({
      credential: 'studio-a',
      baseUrl: 'https://a.example',
      models: '/models.json',
      policy: { on502: 'fail', on504: 'fail' },
    });
    expect(configOfAccount(config, 'studio-b').models).toBe(join(dir, 'b.json'));
    expect(configOfAccount(config, 'another')).toBe(config);
    expect(configOfAccount(config, undefined)).toBe(config);
  });
});
