import { environmentConnections } from '../../src/service/connections';
import {
  type ApiCaller,
  apiHeaders,
  credentialsOf,
  receivesKey,
  redactorFor,
} from '../../src/service/endpoint';

const PROXY_PASSWORD = 'password-of-the-proxy';
const proxyPasswords = [PROXY_PASSWORD];

function callerWith(apiKey: ApiCaller['apiKey']): ApiCaller {
  return {
    baseUrl: 'https://api.example/v1',
    apiKey,
    userAgent: 'temporal-media/0',
    now: Date.now,
    connectionFactory: environmentConnections({}),
    secrets: () => proxyPasswords,
  };
}

describe('[C5.1] the credentials of a call', () => {
  it.each([
    ['a-key', 'Bearer a-key'],
    ['  a-key\n', 'Bearer a-key'],
    ['!~', 'Bearer !~'],
    ['None', 'Bearer None'],
    ['none', undefined],
    [' none\n', undefined],
  ])('of the key %j have the header %j', async (key, authorization) => {
    expect(await credentialsOf(callerWith(() => key))).toMatchObject({ authorization });
  });

  it.each([
    '',
    ' \n',
    'two words',
    'two\nlines',
    'tab\there',
    'schlüssel',
    'é-key',
    'key-é',
    'nul\0',
    '\x7fdel',
  ])('are none for %j, which fits into no header', async (key) => {
    expect(await credentialsOf(callerWith(() => key))).toBeUndefined();
  });

  it.each<[string, ApiCaller['apiKey']]>([
    ['rejects', () => Promise.reject(new Error('vault is sealed'))],
    [
      'throws',
      () => {
        throw new Error('vault is sealed');
      },
    ],
    ['has none', () => undefined as unknown as string],
  ])('are none when the source of the key %s', async (_how, apiKey) => {
    expect(await credentialsOf(callerWith(apiKey))).toBeUndefined();
  });
});

describe('[C5.4a] the redactor of a caller', () => {
  const text = 'first-key-1 second-key-2 none password-of-the-proxy';

  it('is the same for every call with one key, and another one for another key', async () => {
    let key = 'first-key-1';
    const caller = callerWith(() => key);
    const first = await credentialsOf(caller);
    expect(first?.redactor.text(text)).toBe('[removed] second-key-2 none [removed]');
    expect((await credentialsOf(caller))?.redactor).toBe(first?.redactor);
    key = 'second-key-2';
    const second = await credentialsOf(caller);
    expect(second?.redactor).not.toBe(first?.redactor);
    expect(second?.redactor.text(text)).toBe('first-key-1 [removed] none [removed]');
    key = 'none';
    expect((await credentialsOf(caller))?.redactor.text(text)).toBe(
      'first-key-1 second-key-2 none [removed]',
    );
  });

  it('removes the last key from what any host says, and before any call the passwords of proxies', async () => {
    const caller = callerWith(() => 'first-key-1');
    expect(redactorFor(caller).text(text)).toBe('first-key-1 second-key-2 none [removed]');
    const credentials = await credentialsOf(caller);
    expect(redactorFor(caller)).toBe(credentials?.redactor);
  });
});

describe('[C5.3] the key in requests', () => {
  it('is in the headers for the service, and no header without a value stands for it', () => {
    const others = { 'accept-encoding': 'identity', 'user-agent': 'ua' };
    expect(apiHeaders({ userAgent: 'ua' }, { authorization: 'Bearer a' })).toStrictEqual({
      authorization: 'Bearer a',
      ...others,
    });
    expect(apiHeaders({ userAgent: 'ua' }, { authorization: undefined })).toStrictEqual(others);
  });

  it.each([
    ['https://api.example/other', true],
    ['https://api.example:443/', true],
    ['http://api.example/', false],
    ['https://api.example:444/', false],
    ['https://cdn.api.example/', false],
    ['https://api.example.evil/', false],
  ])('goes to %s: %j', (url, receives) => {
    expect(receivesKey({ baseUrl: 'https://api.example/v1' }, new URL(url))).toBe(receives);
  });
});
