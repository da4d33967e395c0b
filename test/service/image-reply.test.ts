import { type JsonValue } from '../../src/domain/json';
import { readImageReply } from '../../src/service/read-replies';
import { createRedactor } from '../../src/service/redact';

const context = {
  baseUrl: 'https://api.example.com/prefix',
  redactor: createRedactor(['EchoedKey0123456789']),
};
const read = (json: JsonValue | undefined) => readImageReply(json, context);
const item = (json: JsonValue) => read({ data: [json] })?.items;
const picture = Buffer.alloc(400, 7);
const base64 = picture.toString('base64');
const address = 'https://cdn.example/a.png';

describe('what a reply to an image call says of each image', () => {
  it.each([
    ['Base64', { b64_json: base64 }],
    ['Base64 with blanks around it', { b64_json: ` ${base64}\n` }],
    ['a data: address where Base64 belongs', { b64_json: `data:image/png;base64,${base64}` }],
    ['a data: address with blanks around it', { b64_json: `\n DATA:image/png;base64,${base64} ` }],
    ['Base64 beside an address', { b64_json: base64, url: address }],
  ])('[C2.5.2] %s is the image itself', (_what, json) => {
    expect(item(json)).toEqual([{ kind: 'b64', data: picture }]);
  });

  it.each([
    ['its address', { url: address }],
    ['its address where the Base64 is empty', { b64_json: '', url: address }],
    ['its address where the Base64 is none', { b64_json: 7, url: address }],
    ['its address where the Base64 is broken', { b64_json: '%%%', url: address }],
  ])('[C2.5.2] %s is followed', (_what, json) => {
    expect(item(json)).toEqual([{ kind: 'url', url: address }]);
  });

  it.each([
    ['not_an_object', 'text'],
    ['not_an_object', ['AAAA']],
    ['invalid_base64', { b64_json: '%%%' }],
    ['invalid_base64', { b64_json: ' ' }],
    // Only at its beginning is it a data: address.
    ['invalid_base64', { b64_json: 'x data:image/png;base64,AAAA' }],
    ['invalid_base64', { b64_json: 'xdata:image/png;base64,AAAA' }],
    ['invalid_base64', { b64_json: '%%%', url: 7 }],
    ['neither_url_nor_base64', { b64_json: '' }],
    ['neither_url_nor_base64', { url: '' }],
    ['neither_url_nor_base64', { url: ' \n' }],
    ['neither_url_nor_base64', { url: 7 }],
    ['neither_url_nor_base64', { b64_json: '%%%', url: '' }],
    ['invalid_url', { url: 'a b' }],
    ['invalid_url', { url: '/tmp/a.png' }],
  ])('[C2.3.6] an image that cannot be had is told as %s and not omitted: %j', (reason, json) => {
    expect(item(json)).toEqual([{ kind: 'unreadable', reason }]);
  });

  it.each([
    [0, 0],
    [1_713_833_628, 1_713_833_628],
    ['1713833628', 1_713_833_628],
    [-1, null],
    [1.5, null],
    ['soon', null],
    [null, null],
    [undefined, null],
  ])('[C2.5.1] created %j is the time %j', (created, expected) => {
    const json = created === undefined ? { data: [] } : { created, data: [] };
    expect(read(json)).toStrictEqual({ created: expected, items: [] });
  });

  it('[C1.9] keeps the usage, without the key, and none where there is none', () => {
    expect(read({ data: [], usage: { total_tokens: 3, note: 'EchoedKey0123456789' } })?.usage).toEqual({
      total_tokens: 3,
      note: '[removed]',
    });
    for (const usage of [null, { text: 'x'.repeat(100_000) }])
      expect(read({ data: [], usage })).not.toHaveProperty('usage');
  });

  it.each([undefined, null, 'x', [], {}, { data: {} }, { data: null }])(
    '[C4.4a] row 37: %j is no list of images',
    (json) => {
      expect(read(json)).toBeUndefined();
    },
  );
});
