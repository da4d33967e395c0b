import fc from 'fast-check';
import { referenceModeOf } from '../../src/domain/request';
import { holdsLocalPath, looksLikeLocalPath } from '../../src/domain/validate-request';
import { isPublicAddress } from '../../src/service/address-filter';
import { readBase64, readDataUrl } from '../../src/service/read-data-url';
import { contentHeaders } from '../../src/service/reply-headers';
import { resolveResultUrl } from '../../src/service/video-record';
import { describePage, extensionOf, sniffMedia } from '../../src/stores/artifacts/media-type';
import { claimsIn } from '../../src/stores/artifacts/mp4-samples';
import { box } from '../stores/artifacts/make-media';

const any = fc.string({ unit: 'binary', maxLength: 40 });
const BASE = 'https://api.example/prefix';

describe('addresses and bytes', () => {
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));

  it('one IPv4 address is judged alike in every spelling', () => {
    fc.assert(
      fc.property(octets, ([a, b, c, d]) => {
        const plain = `${a}.${b}.${c}.${d}`;
        const value = ((a * 256 + b) * 256 + c) * 256 + d;
        const spellings = [
          String(value),
          `0x${value.toString(16)}`,
          `0${value.toString(8)}`,
          `${a}.${b}.${c * 256 + d}`,
          `0x${a.toString(16)}.${b}.${c}.${d}`,
        ];
        const judged = new Set(spellings.map((one) => isPublicAddress(new URL(`http://${one}/`).hostname)));
        expect([...judged]).toEqual([isPublicAddress(plain)]);
        expect(isPublicAddress(new URL(`http://[::ffff:${plain}]/`).hostname.slice(1, -1))).toBe(
          isPublicAddress(plain),
        );
      }),
    );
  });

  it('an IPv6 address that wraps an IPv4 one is never more public than that', () => {
    fc.assert(
      fc.property(
        octets,
        fc.constantFrom('::', '64:ff9b::', '::ffff:', '::ffff:0:', '64:ff9b:1::'),
        ([a, b, c, d], wrap) => {
          const plain = `${a}.${b}.${c}.${d}`;
          const wrapped = new URL(`http://[${wrap}${plain}]/`).hostname.slice(1, -1);
          if (isPublicAddress(wrapped)) expect(isPublicAddress(plain)).toBe(true);
        },
      ),
    );
  });

  it('[C2.2.6] what is resolved as a result is absolute, and resolves to itself', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl(), fc.webPath(), any), (text) => {
        const url = resolveResultUrl(text, BASE);
        if (url === undefined || /^data:/i.test(url)) return;
        expect(resolveResultUrl(url, BASE)).toBe(url);
        expect(new URL(url).protocol).toMatch(/^https?:$/);
      }),
    );
  });

  it('[C2.4.6] a path of this machine is seen at any depth of a field', () => {
    const local = fc.constantFrom(
      '/etc/passwd',
      '~/x',
      './a',
      '../a',
      'C:\\a',
      'file:///a',
      '\\\\host\\share',
      'clip.mp4',
    );
    fc.assert(
      fc.property(local, fc.jsonValue({ maxDepth: 2 }), fc.nat(20), (text, beside, depth) => {
        let value: unknown = { x: text, beside };
        for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
        expect(looksLikeLocalPath(text)).toBe(true);
        expect(holdsLocalPath(value as never)).toBe(true);
      }),
    );
  });

  it('[C2.5.4] Base64 of any bytes gives them back in both alphabets, with and without blanks', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), fc.nat(80), (data, at) => {
        const text = Buffer.from(data).toString('base64');
        const broken = `${text.slice(0, at)}\n ${text.slice(at)}`;
        for (const form of [text, broken, Buffer.from(data).toString('base64url')])
          expect(readBase64(form, 100)).toEqual(Buffer.from(data));
        expect(readBase64(text, data.length - 1)).toBeUndefined();
        expect(readDataUrl(`data:image/png;base64,${text}`, 100)).toEqual(Buffer.from(data));
      }),
    );
  });

  it('a Base64 text with one foreign character in it is refused whole', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 3, maxLength: 60 }),
        fc.nat(80),
        fc.constantFrom('!', '*', '~', 'é', '\0', ',', '%'),
        (data, at, bad) => {
          const text = Buffer.from(data).toString('base64').replace(/=+$/, '');
          const place = at % (text.length + 1);
          expect(readBase64(`${text.slice(0, place)}${bad}${text.slice(place)}`, 100)).toBeUndefined();
        },
      ),
    );
  });

  it('a range is taken only when it names bytes that can be there', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), fc.option(fc.nat(1000)), (from, to, total) => {
        const headers = { 'content-range': `bytes ${from}-${to}/${total ?? '*'}` };
        const valid = from <= to && (total === null || to < total);
        expect(contentHeaders(headers).contentRange).toEqual(valid ? { from, to, total } : null);
      }),
    );
  });

  it('samples that nested tables claim are counted whatever surrounds them', () => {
    const table = (count: number) => {
      const body = Buffer.alloc(12);
      body.writeUInt32BE(1, 4);
      body.writeUInt32BE(count, 8);
      return box('stsz', body);
    };
    const wrap = (inner: Buffer) => box('trak', box('mdia', box('minf', box('stbl', inner))));
    fc.assert(
      fc.property(
        fc.array(fc.nat(0xffff), { maxLength: 5 }),
        fc.uint8Array({ maxLength: 20 }),
        (counts, junk) => {
          const tables = counts.flatMap((count) => [box('free', junk), table(count)]);
          const total = counts.reduce((sum, count) => sum + count, 0);
          expect(claimsIn(wrap(Buffer.concat(tables)))).toEqual({ samples: total, fit: true });
        },
      ),
    );
  });

  it('bytes have one media type, a page is none, and every type has an extension', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (head) => {
        const media = sniffMedia(head);
        if (media !== undefined) expect(extensionOf(media.mediaType)).toBe(media.extension);
        expect(['empty', 'json', 'html', 'text', 'unknown']).toContain(describePage(head));
        expect(sniffMedia(Buffer.concat([Buffer.from('<html>'), head]))).toBeUndefined();
      }),
    );
  });

  it('[C2.1.5] the mode of references counts each kind', () => {
    const reference = fc
      .constantFrom('image', 'video', 'audio')
      .map((kind) => ({ kind, source: { url: 'https://x.example/a' } }) as const);
    fc.assert(
      fc.property(fc.array(reference, { maxLength: 6 }), (references) => {
        const counted = [...referenceModeOf(references).matchAll(/(\w+):(\d+)/g)].reduce(
          (sum, [, , count]) => sum + Number(count),
          0,
        );
        expect(counted).toBe(references.length);
        expect(referenceModeOf([...references].reverse())).toBe(referenceModeOf(references));
      }),
    );
  });
});
