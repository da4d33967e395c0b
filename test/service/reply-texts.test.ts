import { proxySecrets } from '../../src/service/proxy-environment';
import { readVideoReply, replyHeaders } from '../../src/service/read-replies';
import { createRedactor } from '../../src/service/redact';
import { readRecord } from './read-record';

const KEY = 'EchoedKey0123456789';
const PROMPT = 'an echoed prompt of a lonely heron in the reeds';
const redactor = createRedactor([KEY]);

/** Everything of a reply that is kept where the text of an error may not be (architecture: Stores). */
describe('what a reply says beside its error text', () => {
  it.each([
    ['a key', `Bearer ${KEY}`],
    ['a key in lower case', KEY.toLowerCase()],
    ['a prompt', PROMPT],
    ['a signed address', 'https://cdn.example/x?sig=EchoedSignature'],
  ])('[C5.4a] [C5.4b] [C5.4c] in a record: %s', (_what, echo) => {
    const reading = readRecord(
      {
        id: 'vid_1',
        status: echo,
        model: echo,
        resolution: echo,
        usage: { note: echo, [echo]: [echo], seconds: 4 },
        error: { code: echo.replaceAll(' ', '_'), type: echo },
      },
      { keys: [KEY] },
    );
    const { error, ...rest } = reading!.record;
    expect(JSON.stringify([rest, error?.kind])).not.toMatch(/echoed/i);
    expect(reading).toMatchObject({ record: { phase: 'unknown', usage: { seconds: 4 } } });
  });

  it('[C5.4a] [C5.4b] an id that holds the key or is a signed address is no id', () => {
    const reply = { httpStatus: 200, headers: {}, redactor };
    for (const id of [KEY, `vid-${Buffer.from(KEY).toString('base64')}`, 'https://a.example/o?sig=x'])
      expect(readVideoReply({ id, status: 'queued' }, reply)).toBeUndefined();
    expect(readVideoReply({ id: 'vid_1', status: PROMPT }, reply)).toMatchObject({
      taskId: 'vid_1',
      status: '[text]',
      phase: 'unknown',
    });
  });

  it('[C5.4a] [C5.4c] headers: ids and times stay, an echo does not', () => {
    const date = 'Tue, 10 Nov 2026 10:00:00 GMT';
    expect(
      replyHeaders(
        { date, 'retry-after': '7', 'x-request-id': PROMPT, 'cf-ray': `ray-${KEY}`, 'set-cookie': 'a=b' },
        redactor,
      ),
    ).toEqual({ date, 'retry-after': '7', 'x-request-id': '[text]', 'cf-ray': 'ray-[removed]' });
    expect(replyHeaders({ date: PROMPT, 'retry-after': PROMPT }, redactor)).toEqual({
      date: '[text]',
      'retry-after': '[text]',
    });
  });

  it.each([
    ...['x-request-id', 'request-id', 'x-correlation-id', 'x-trace-id', 'x-amzn-requestid'],
    ...['x-amz-request-id', 'x-ms-request-id', 'cf-ray', 'date', 'retry-after'],
  ])('[C5.4a] the header %s names the request in the logs of a service: it stays', (name) => {
    expect(replyHeaders({ [name]: '7' }, redactor)).toEqual({ [name]: '7' });
  });

  it('[C5.4a] no other header stays, nor an empty one; a repeated one stays as a list', () => {
    const headers = { 'x-request-id': ['r-1', 'r-2'], 'cf-ray': '', 'set-cookie': 'a=b', server: 'nginx' };
    expect(replyHeaders(headers, redactor)).toEqual({ 'x-request-id': 'r-1, r-2' });
  });

  it.each([
    ...['Tue, 10 Nov 2026 10:00:00 GMT', 'Tue Nov 10 10:00:00 2026 GMT', '10 Nov 2026 10:00:00 GMT'],
    ...['Tuesday, 10-Nov-26 10:00:00 GMT', '120', '120 seconds from the first call on'],
  ])('[C5.4c] %j is a time where a time belongs, however many words it has', (time) => {
    expect(replyHeaders({ date: time, 'retry-after': time }, redactor)).toEqual({
      date: time,
      'retry-after': time,
    });
  });

  it.each([
    'a heron stands in the reeds',
    'a heron and 2 more in the reeds',
    '7 (herons) stand in the reeds',
    '7 herons, all of them, in the reeds',
    'Tue, 10 Nov 2026 10:00:00 GMT, a heron stood in the reeds',
  ])('[C5.4c] %j is no time, but a text that may be an echo', (text) => {
    expect(replyHeaders({ date: text, 'retry-after': text }, redactor)).toEqual({
      date: '[text]',
      'retry-after': '[text]',
    });
  });

  it('[C5.4c] a time is one in its own headers only', () => {
    const time = '7 more in the reeds';
    expect(replyHeaders({ 'x-request-id': time, date: time }, redactor)).toEqual({
      'x-request-id': '[text]',
      date: time,
    });
  });

  it('a create reply without a status is accepted, and its status is empty', () => {
    const reply = { httpStatus: 200, headers: {}, redactor };
    for (const status of [undefined, null, '', {}])
      expect(
        readVideoReply({ id: 'vid_1', ...(status === undefined ? {} : { status }) }, reply),
      ).toMatchObject({
        class: 'accepted',
        taskId: 'vid_1',
        status: '',
        phase: 'unknown',
      });
  });

  it('[C5.4a] passwords of proxies are known, as they stand and decoded', () => {
    expect(
      proxySecrets({ HTTPS_PROXY: 'http://user:p%40ss@proxy.example:8080', http_proxy: 'user:a@b@proxy:1' }),
    ).toEqual(['a@b', 'p%40ss', 'p@ss']);
    expect(proxySecrets({ https_proxy: 'http://token@proxy.example', no_proxy: 'a@b' })).toEqual(['token']);
    expect(proxySecrets({ HTTPS_PROXY: 'http://proxy.example:8080', ALL_PROXY: '%%%' })).toEqual([]);
  });
});
