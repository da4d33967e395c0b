import fc from 'fast-check';
import { createRedactor } from '../../src/service/redact';

const SECRET = 'p@ss/word+1234 "x"';
const redactor = createRedactor([SECRET, 'key-1234567890', '']);

describe('redaction', () => {
  it.each([
    ['Bearer abcdef123456', 'abcdef'],
    ['authorization: Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
    ['Cookie: session=abc; other=def', 'abc'],
    ['set-cookie: a=b', 'a=b'],
    ['see https://user:pw@cdn.example/file.mp4?X-Amz-Signature=zz#frag', 'zz'],
    ['see https://cdn.example/private-name.mp4', 'private-name'],
    ['see cdn.example/file.mp4?token=zz', 'zz'],
    ['see //cdn.example/private/x', 'private'],
    ['https%3A%2F%2Fcdn.example%2Fx%3Fsig%3Dzz', 'zz'],
    ['"api_key": "zz-top"', 'zz-top'],
    ['access_token=zz-top', 'zz-top'],
    ['key sk-abcdefghij', 'abcdefghij'],
    ['Incorrect API key provided: 0123456789abcdef. See the account.', 'abcdef'],
    ['API key: abcdefghijklmnop', 'abcdef'],
    ['API key was "abcdef0123456789".', 'abcdef'],
    ['The api key abcdef0123456789 is not active', 'abcdef'],
    ['the password is hunter2', 'hunter2'],
    ['access key = abcdefgh', 'abcdefgh'],
    ['your key AIzaSyA-1234567_890abcdefghijklmnop has no access', 'AIza'],
    ['gsk_abcdefghijklmnop1234', 'abcdef'],
    ['AKIAABCDEFGHIJKLMNOP', 'ABCDEF'],
    ['user ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'abcdef'],
    ['xoxb-123456789012-abcdefghij', 'abcdef'],
    ['eyJhbGciOiJI.eyJzdWIiOiIx.c2ln', 'eyJzdWIi'],
    ['data:image/png;base64,iVBORw0KGgo=', 'iVBORw0'],
    [`raw ${'QUJD'.repeat(40)}`, 'QUJDQUJD'],
    ['cannot open /home/jo/My-Pictures/cat.png', 'jo'],
    ['cannot open "/home/jo/My Pictures/cat.png"', 'Pictures'],
    ['cannot open ~/pictures/cat.png', 'cat'],
    ['cannot open ../up/cat.png', 'cat'],
    ['cannot open C:\\Users\\jo\\cat.png', 'jo'],
    ['cannot open \\\\server\\share\\cat.png', 'share'],
    ['file:///home/jo/cat.png', 'jo'],
    ['line\nfeed\u0000\u001b[31m', '\n'],
    ['key-1234567890', '1234'],
    [Buffer.from('key-1234567890').toString('base64'), 'a2V5'],
    [Buffer.from('key-1234567890').toString('hex'), '6b6579'],
    [encodeURIComponent(SECRET), 'word'],
    [JSON.stringify({ key: SECRET }), 'word'],
  ])('[C5.4a] [C5.4b] [C5.4c] %j is cleaned', (text, gone) => {
    expect(redactor.text(text)).not.toContain(gone);
  });

  it.each([
    'The duration must be one of 4, 8, 12.',
    'rate limit policy: 3 requests/min',
    'size 1024x1024 and/or ratio 16:9 is not supported',
    'check /v1/videos/abc',
    'max_tokens: 5',
    'The API key is missing.',
    'password is required',
    'API key provided is not valid for this model',
    'the token has expired, ask for another one at 12:00',
    'at most 4096 tokens in 1000000 seconds',
    'Ünïcödé 😀 stays',
  ])('%j stays as it is', (text) => {
    expect(redactor.text(text)).toBe(text);
  });

  const KEY = 'key-1234567890';
  const unicode = (text: string) =>
    [...text].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');
  it.each([
    ['Base64 behind one byte', Buffer.from(`:${KEY}`).toString('base64'), 'LTEyMzQ1Njc4'],
    ['Base64 behind two bytes', Buffer.from(`a:${KEY}:b`).toString('base64'), 'LTEyMzQ1Njc4'],
    ['Base64 with other bytes around it', Buffer.from(`user ${KEY} x`).toString('base64'), 'y0xMjM0NTY3'],
    ['upper case', KEY.toUpperCase(), 'KEY-1'],
    ['hex in upper case', Buffer.from(KEY).toString('hex').toUpperCase(), '6B6579'],
    ['every byte percent-encoded', `%${Buffer.from(KEY).toString('hex').match(/../g)!.join('%')}`, '%6b%65'],
    ['every letter as a JSON escape', unicode(KEY), '006b'],
  ])('[C5.4a] a key is found: %s', (_how, text, gone) => {
    expect(redactor.text(`was ${text} here`)).toMatch(/^was .*\[removed\].* here$/);
    expect(redactor.text(text)).not.toContain(gone);
    expect(redactor.page(Buffer.from(`<b>${text}</b>`)).toString()).not.toContain(gone);
    expect(redactor.holdsSecret(`id_${text}`)).toBe(true);
  });

  it.each([
    ['in_progress', 'in_progress'],
    ['waiting for a gpu', 'waiting for a gpu'],
    ['content_policy_violation', 'content_policy_violation'],
    ['готово', 'готово'],
    ['a red kite over the sea', '[text]'],
    ['一只红色的风筝在蓝色的海面上慢慢飞过', '[text]'],
    [`req-${KEY}`, 'req-[removed]'],
  ])('[C5.4a] [C5.4c] the name %j is kept as %j', (name, kept) => {
    expect(redactor.name(name)).toBe(kept);
  });

  it('[C5.4a] [C5.4b] a page stays byte for byte but for keys, cookies and signed addresses', () => {
    const page = Buffer.from(
      '{"error": "still copied", "see": "https://docs.example/errors"}\xff\x00',
      'latin1',
    );
    expect(redactor.page(page).equals(page)).toBe(true);
    const hostile = [
      `{"key": "${KEY}", "next": "https:\\/\\/cdn.example\\/a?X-Sig=zz-top"}`,
      'Set-Cookie: session=zz-top\nrest',
      'https%3A%2F%2Fcdn.example%2Fx%3Fsig%3Dzz-top or https://u:zz-top@cdn.example/',
      Buffer.from(KEY, 'utf16le').toString('latin1'),
    ].join('\n');
    const cleaned = redactor.page(Buffer.from(hostile, 'latin1')).toString('latin1');
    expect(cleaned).not.toMatch(/zz-top|key-1234567890|k\0e\0y/);
    expect(cleaned).toContain('rest');
  });

  it('[C5.4a] [C5.4b] an id that holds a key or is a signed address is told', () => {
    for (const id of ['vid_1', 'projects/a/operations/b', 'a:b@c', 'x?y=1', 'https://a.example/op/1'])
      expect(redactor.holdsSecret(id)).toBe(false);
    for (const id of [KEY, `vid_${KEY}_1`, 'https://a.example/op?sig=zz', 'https://u:p@a.example'])
      expect(redactor.holdsSecret(id)).toBe(true);
  });

  it('a URL is cut to its origin', () => {
    expect(redactor.text('at https://u:p@cdn.example:8443/a/b?c=d now')).toBe(
      'at https://cdn.example:8443 now',
    );
    expect(redactor.url('https://u:p@cdn.example/a?b')).toBe('https://cdn.example');
    expect(redactor.url('/home/x')).toBe('[address]');
  });

  it('a text is capped without cutting a character, and a key at the cut leaves no half', () => {
    expect(redactor.text('😀 '.repeat(1000)).length).toBeLessThanOrEqual(500);
    expect(redactor.text('😀'.repeat(1000))).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
    const long = `${'a b '.repeat(4090)} key-1234567890 rest`;
    expect(redactor.text(long, 100_000)).not.toContain('key-1');
  });

  it('[C5.4a] no form of a secret survives, wherever it stands', () => {
    const form = fc.constantFrom(
      SECRET,
      encodeURIComponent(SECRET),
      Buffer.from(SECRET).toString('base64').replace(/=+$/, ''),
      Buffer.from(SECRET).toString('base64url'),
    );
    fc.assert(
      fc.property(fc.string(), form, fc.string(), (before, secret, behind) => {
        expect(redactor.text(`${before}${secret}${behind}`)).not.toContain(secret);
      }),
    );
  });

  it('never throws, is bounded in time and gives one well-formed line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => {
        const clean = redactor.text(text);
        expect(clean.length).toBeLessThanOrEqual(500);
        expect(clean).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      }),
    );
    for (const hostile of [
      '/',
      '"/',
      'a',
      '=',
      '?a=',
      'data:',
      'x-amz-',
      '\\\\',
      'eyJaaaaa.',
      'https:',
      'token ',
      'api key is ',
      'AIza-',
      '.-token',
    ]) {
      redactor.text(hostile.repeat(100_000));
    }
  });
});
