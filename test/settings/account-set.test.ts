import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountName } from '../../src/service/endpoint';
import { type AccountSet, openAccounts } from '../../src/settings/account-set';
import { readConfig } from '../../src/settings/config';

describe('the accounts of a worker', () => {
  let dir: string;
  let file: string;
  let now: number;
  let warnings: string[];
  const open: AccountSet[] = [];
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'temporal-media-accounts-'));
    file = join(dir, 'accounts.json');
    now = 0;
    warnings = [];
    for (const name of ['a', 'b', 'c'])
      await writeFile(join(dir, `${name}.key`), `the-key-of-${name}-open-sesame`);
  });
  afterEach(async () => {
    for (const set of open.splice(0)) await set.close();
    await rm(dir, { recursive: true, force: true });
  });

  const account = (name: string, more: object = {}) => ({
    name,
    baseUrl: `https://${name}.example`,
    keyFile: `${name}.key`,
    ...more,
  });
  const write = async (...accounts: object[]) => {
    await writeFile(join(dir, 'next.json'), JSON.stringify({ version: 1, accounts }));
    await rename(join(dir, 'next.json'), file);
  };
  const set = (env: NodeJS.ProcessEnv = { MEDIA_ACCOUNTS: file }): AccountSet => {
    const made = openAccounts({
      config: readConfig(env),
      warn: (text) => warnings.push(text),
      clock: () => now,
    });
    open.push(made);
    return made;
  };
  const nameOf = (name: string) => accountName(name, `https://${name}.example`);

  it('are those of the file and the short form, found by credential or full name', async () => {
    await write(account('a'), account('b'));
    const accounts = set({
      MEDIA_ACCOUNTS: file,
      MEDIA_BASE_URL: 'https://one.example',
      MEDIA_API_KEY: 'one',
    });
    const own = accountName('default', 'https://one.example');
    expect(accounts.names()).toEqual([own, nameOf('a'), nameOf('b')]);
    expect(accounts.find(undefined)?.name).toBe(own);
    expect(accounts.find('b')?.client.baseUrl).toBe('https://b.example');
    expect(accounts.find(nameOf('b'))).toBe(accounts.find('b'));
    expect(accounts.find('b@00000000')).toBeUndefined();
    expect(await accounts.find('a')?.hasKey()).toBe(true);
  });

  it('are refused at the start where names clash, the file is broken, or there is none at all', async () => {
    await write(account('default'));
    const short = { MEDIA_BASE_URL: 'https://one.example', MEDIA_API_KEY: 'one' };
    expect(() => set({ MEDIA_ACCOUNTS: file, ...short })).toThrow(/two accounts have the name default/);
    await write();
    expect(() => set()).toThrow(/contains no accounts/);
    expect(set({ MEDIA_ACCOUNTS: file, ...short }).names()).toHaveLength(1);
    await writeFile(file, '{');
    expect(() => set()).toThrow(/is not JSON/);
    expect(() => set({})).toThrow(/MEDIA_BASE_URL: is not set.*MEDIA_ACCOUNTS/);
  });

  it('change with the file: one comes, one goes, one with another address is another, and the rest stay', async () => {
    await write(account('a'), account('b'));
    const accounts = set();
    const [a, b] = [accounts.find('a'), accounts.find('b')];
    await write(account('a'), account('c'), account('b', { baseUrl: 'https://moved.example' }));
    expect(accounts.find('c')).toBeUndefined();
    now += 1_000;
    expect(accounts.find('c')?.name).toBe(nameOf('c'));
    expect(accounts.find('a')).toBe(a);
    expect(accounts.find(b?.name)).toBeUndefined();
    expect(accounts.find('b')?.name).toBe(accountName('b', 'https://moved.example'));
    await write(account('c'));
    now += 1_000;
    expect(accounts.find('a')).toBeUndefined();
    expect(accounts.names()).toEqual([nameOf('c')]);
  });

  it('[C5.4a] stay as they were while the file cannot be used; that is said once for each change, without secrets', async () => {
    await write(account('a'));
    const accounts = set();
    const look = () => {
      now += 1_000;
      return accounts.names();
    };
    await writeFile(file, '{"accounts": "open-sesame"');
    for (let times = 0; times < 3; times++) expect(look()).toEqual([nameOf('a')]);
    expect(warnings).toHaveLength(1);
    await rm(file);
    look();
    look();
    expect(warnings).toHaveLength(2);
    expect(warnings.join(' ')).toMatch(/is not JSON.*The accounts read earlier stay in use.*cannot be read/s);
    expect(warnings.join(' ')).not.toContain('sesame');
    await write(account('a'), account('b'));
    expect(look()).toEqual([nameOf('a'), nameOf('b')]);
    expect(warnings).toHaveLength(2);
  });

  it('[C5.2] have the key of the moment, also in another thread', async () => {
    await write(account('a'));
    const accounts = set();
    expect(accounts.access('a')).toMatchObject({ name: nameOf('a'), key: 'the-key-of-a-open-sesame' });
    await writeFile(join(dir, 'a.key'), 'the-new-key-of-a');
    expect(accounts.access('a')?.key).toBe('the-new-key-of-a');
    await rm(join(dir, 'a.key'));
    expect(accounts.access('a')?.key).toBe('');
    expect(await accounts.find('a')?.hasKey()).toBe(false);
    expect(accounts.access('b')).toBeUndefined();
  });

  it('[C5.4a] redact the keys of all of them, old and new ones, in texts about any of them', async () => {
    await write(account('a'), account('b'));
    const accounts = set();
    const clean = async (name: string, text: string) =>
      (await accounts.find(name)!.client.redactor()).text(text);
    const [a, b] = ['the-key-of-a-open-sesame', 'the-key-of-b-open-sesame'];
    expect(await clean('a', `a refuses ${b}, not ${a}`)).toBe('a refuses [removed], not [removed]');
    await writeFile(join(dir, 'b.key'), 'rotated-and-unlike');
    await write(account('a'), account('b'), account('c'));
    now += 1_000;
    const all = await clean('a', `${b} rotated-and-unlike the-key-of-c-open-sesame`);
    expect(all).toBe('[removed] [removed] [removed]');
  });
});
