import fc from 'fast-check';
import { checkImage, describePage, extensionOf, sniffMedia } from '../../../src/stores/artifacts/media-type';
import { box, makePng } from './make-media';

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );

const SAMPLES: [string, string, string, Buffer][] = [
  ['video', 'video/mp4', 'mp4', bytes([0, 0, 0, 24], 'ftypisom', [0, 0, 2, 0])],
  ['video', 'video/mp4', 'mp4', bytes([0, 0, 0, 24], 'ftypmp42')],
  ['video', 'video/quicktime', 'mov', bytes([0, 0, 0, 20], 'ftypqt  ')],
  ['video', 'video/quicktime', 'mov', bytes([0, 0, 1, 0], 'moov')],
  ['video', 'video/matroska', 'mkv', bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f], 'B\x82\x88matroska')],
  ['video', 'video/x-msvideo', 'avi', bytes('RIFF', [1, 0, 0, 0], 'AVI LIST')],
  ['video', 'video/mp4', 'mp4', bytes([0, 0, 0, 8], 'free', [0, 0, 0, 24], 'ftypmp42', [0, 0, 0, 0])],
  ['video', 'video/webm', 'webm', bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f], 'B\x82\x84webm')],
  ['image', 'image/png', 'png', makePng(2, 2)],
  ['image', 'image/jpeg', 'jpg', bytes([0xff, 0xd8, 0xff, 0xe0], '..JFIF')],
  ['image', 'image/webp', 'webp', bytes('RIFF', [1, 0, 0, 0], 'WEBPVP8 ')],
  ['image', 'image/gif', 'gif', bytes('GIF89a')],
  ['audio', 'audio/wav', 'wav', bytes('RIFF', [1, 0, 0, 0], 'WAVEfmt ')],
  ['audio', 'audio/mpeg', 'mp3', bytes('ID3', [4, 0])],
  ['audio', 'audio/mpeg', 'mp3', bytes([0xff, 0xfb, 0x90, 0x64])],
  ['audio', 'audio/ogg', 'ogg', bytes('OggS')],
  ['audio', 'audio/flac', 'flac', bytes('fLaC')],
  ['audio', 'audio/mp4', 'm4a', bytes([0, 0, 0, 24], 'ftypM4A ')],
  ['audio', 'audio/aac', 'aac', bytes([0xff, 0xf1, 0x50, 0x80])],
];

it.each(SAMPLES)('[C2.5.5] %s %s (%s) is known by its bytes', (kind, mediaType, extension, head) => {
  expect(sniffMedia(head)).toEqual({ kind, mediaType, extension });
  expect(extensionOf(mediaType)).toBe(extension);
});

it.each([
  ['a user list', Buffer.from('root:x:0:0:root:/root:/bin/bash\n')],
  ['a private key', Buffer.from('-----BEGIN OPENSSH PRIVATE KEY-----\n')],
  ['JSON', Buffer.from('{"ftyp":"isom"}')],
  ['JSON as UTF-16', Buffer.from('\ufeff{"key":"value"}', 'utf16le')],
  ['an archive', bytes('PK\x03\x04')],
  ['SVG, which is text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['Matroska of an unknown kind', bytes([0x1a, 0x45, 0xdf, 0xa3], 'matroshka')],
  ['an AVIF still', bytes([0, 0, 0, 24], 'ftypavif')],
  ['nothing', Buffer.alloc(0)],
])('%s is no media', (_name, head) => {
  expect(sniffMedia(head)).toBeUndefined();
});

it('never throws, and takes no printable text for media by chance', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (head) => {
      sniffMedia(head);
      describePage(head);
      checkImage(head);
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~]{0,40}$/), (text) => {
      fc.pre(!/^(ID3|OggS|fLaC|GIF8|RIFF|....ftyp)/.test(text));
      expect(sniffMedia(Buffer.from(text))).toBeUndefined();
    }),
  );
  expect(extensionOf('application/octet-stream')).toBe('bin');
});

describe('image check', () => {
  it('[C2.5.5] gives the size and the type that the bytes have', () => {
    expect(checkImage(makePng(320, 200))).toEqual({
      ok: true,
      mediaType: 'image/png',
      width: 320,
      height: 200,
    });
  });

  const claiming = (width: number, height: number) => {
    const png = Buffer.from(makePng(1, 1));
    png.writeUInt32BE(width, 16);
    png.writeUInt32BE(height, 20);
    return png;
  };

  it('refuses a header that claims more pixels than any viewer can unpack', () => {
    expect(checkImage(claiming(10_001, 10_000))).toEqual({
      ok: false,
      reason: 'too_large',
      message: 'According to its header, the image is 10001x10000 pixels, but the limit is 100000000 pixels.',
    });
    expect(checkImage(claiming(10_000, 10_000))).toMatchObject({ ok: true, width: 10_000, height: 10_000 });
  });

  it.each([
    [0, 5],
    [5, 0],
    [0, 0],
  ])('refuses an image of %i x %i pixels: there is nothing to see', (width, height) => {
    expect(checkImage(claiming(width, height))).toMatchObject({ ok: false, reason: 'unreadable' });
  });

  it('refuses what is no image, or has no readable header', () => {
    expect(checkImage(Buffer.from('<html>'))).toEqual({
      ok: false,
      reason: 'not_image',
      message: 'The content is not an image.',
    });
    expect(checkImage(box('ftyp', Buffer.from('isom')))).toMatchObject({ ok: false, reason: 'not_image' });
    expect(checkImage(makePng(1, 1).subarray(0, 12))).toEqual({
      ok: false,
      reason: 'unreadable',
      message: 'The image header of this image/png file cannot be read.',
    });
  });
});
