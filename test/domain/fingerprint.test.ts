import fc from 'fast-check';
import { canonical, fingerprintText } from '../../src/domain/fingerprint';
import { type JsonValue } from '../../src/domain/json';
import { type PaidRequest, type VideoRequest } from '../../src/domain/request';

const hash = 'ab'.repeat(32);
const artifact = { uri: `artifact:sha256/${hash}`, mediaType: 'image/png', bytes: 4, sha256: hash };
const video = (request: Partial<VideoRequest> = {}): PaidRequest => ({
  operation: 'create_video',
  request: { model: 'video-1', prompt: 'a cat', ...request },
});
const text = (paid: PaidRequest, account: string | null = 'default@00000000') =>
  fingerprintText(paid, account, (file) => (file === '/in/cat.png' ? hash : `other:${file}`));
const withSource = (source: object) =>
  video({ references: [{ kind: 'image', source: source as { readonly url: string } }] });

describe('the fingerprint of a paid request', () => {
  it('is a versioned text that histories and journals rely on', () => {
    expect(text(video({ durationSeconds: 8 }))).toBe(
      '{"account":"default@00000000","model":"video-1","operation":"create_video","request":{"durationSeconds":8,"prompt":"a cat"},"v":1}',
    );
  });

  it('does not depend on the order of fields, nor on fields that are undefined', () => {
    const given = { prompt: 'a cat', durationSeconds: 8, model: 'video-1' };
    expect(text({ operation: 'create_video', request: given })).toBe(text(video({ durationSeconds: 8 })));
    const loose = { ...given, resolution: undefined } as unknown as VideoRequest;
    expect(text({ operation: 'create_video', request: loose })).toBe(text(video({ durationSeconds: 8 })));
  });

  it.each<[string, PaidRequest]>([
    ['model', video({ model: 'video-2' })],
    ['prompt', video({ prompt: 'a dog' })],
    ['duration', video({ durationSeconds: 8 })],
    ['resolution', video({ resolution: '720p' })],
    ['raw field', video({ fields: { seed: 1 } })],
    ['operation', { operation: 'generate_image', request: { model: 'video-1', prompt: 'a cat' } }],
    ['reference', withSource({ artifact })],
  ])('[C4.4a] another %s is another request', (_, paid) => {
    expect(text(paid)).not.toBe(text(video()));
  });

  it('[C4.4a] another account is another request', () => {
    expect(text(video(), 'other@00000000')).not.toBe(text(video()));
    expect(text(video(), null)).not.toBe(text(video()));
  });

  it('the same bytes are the same request, wherever they lie; other bytes are not', () => {
    expect(text(withSource({ file: '/in/cat.png' }))).toBe(text(withSource({ artifact })));
    expect(text(withSource({ file: '/in/dog.png' }))).not.toBe(text(withSource({ artifact })));
    expect(text(withSource({ artifact: { ...artifact, mediaType: 'x' } }))).toBe(
      text(withSource({ artifact })),
    );
  });

  it('a local path is in it only when nobody gave the hash', () => {
    expect(text(withSource({ file: '/in/cat.png' }))).not.toContain('/in/cat.png');
  });

  it('the order of references counts', () => {
    const of = (...urls: string[]) =>
      text(video({ references: urls.map((url) => ({ kind: 'image', source: { url } })) }));
    expect(of('https://a.example', 'https://b.example')).not.toBe(
      of('https://b.example', 'https://a.example'),
    );
  });

  it('[C4.4a] raw fields are compared as they are, whatever they look like', () => {
    const of = (value: JsonValue) => text(video({ fields: { input: value } }));
    expect(of({ artifact: { id: 1 } })).not.toBe(of({ artifact: { id: 2 } }));
    expect(of({ file: '/in/cat.png' })).not.toBe(of({ sha256: hash }));
  });
});

describe('the canonical form', () => {
  it('of two equal values is one text, however their keys are ordered', () => {
    const shuffled = (value: JsonValue): JsonValue =>
      Array.isArray(value)
        ? value.map(shuffled)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([key, item]) => [key, shuffled(item)]),
            )
          : value;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (json) => {
        const value = json as JsonValue;
        expect(JSON.stringify(canonical(shuffled(value)))).toBe(JSON.stringify(canonical(value)));
      }),
    );
  });
});
