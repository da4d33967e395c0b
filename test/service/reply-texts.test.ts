import { proxySecrets } from '../../src/service/proxy-environment';
import { createRedactor } from '../../src/service/redact';
import { readVideoReply, replyHeaders } from '../../src/service/send-paid';
import { readVideoRecord } from '../../src/service/video-record';

const KEY = 'EchoedKey0123456789';
const PROMPT = 'an echoed prompt of a lonely heron in the reeds';
const redactor = createRedactor([KEY]);
const context = { baseUrl: 'https://api.example.com', redactor };

/** Everything of a reply that is kept where the text of an error may not be (architecture: Stores). */
describe('what a reply says beside its error text', () => {
  it.each([
    ['a key', `Bearer ${KEY}`],
    ['a key in lower case', KEY.toLowerCase()],
    ['a prompt', PROMPT],
    ['a signed address', 'https://cdn.example/x?sig=EchoedSignature'],
  ])('[C5.4a] [C5.4b] [C5.4c] in a record: %s', (_what, echo) => {
    const reading = readVideoRecord(
      {
        id: 'vid_1',
        status: echo,
        model: echo,
        resolution: echo,
        usage: { note: echo, [echo]: [echo], seconds: 4 },
        error: { code: echo.replaceAll(' ', '_'), type: echo },
      },
      context,
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

  it('[C5.4a] passwords of proxies are known, as they stand and decoded', () => {
    expect(
      proxySecrets({ HTTPS_PROXY: 'http://user:p%40ss@proxy.example:8080', http_proxy: 'user:a@b@proxy:1' }),
    ).toEqual(['a@b', 'p%40ss', 'p@ss']);
    expect(proxySecrets({ https_proxy: 'http://token@proxy.example', no_proxy: 'a@b' })).toEqual(['token']);
    expect(proxySecrets({ HTTPS_PROXY: 'http://proxy.example:8080', ALL_PROXY: '%%%' })).toEqual([]);
  });
});
