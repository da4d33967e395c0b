import { BlockList, isIP } from 'node:net';
import { isUsableTaskId } from '../../../src/domain/video-task';
import { createAddressFilter, isPublicAddress } from '../../../src/service/address-filter';
import { apiUrl, normaliseBaseUrl } from '../../../src/service/endpoint';
import { parseJsonBody } from '../../../src/service/reply-body';
import { asObject } from '../../../src/service/task-error';
import { resolveResultUrl, resultUrlsOf } from '../../../src/service/video-record';
import { type FuzzedParser } from './fuzzed-parser';
import { wireSamples, wordsOf } from './wire-samples';

/** The same question asked of another implementation: the block list of Node, with the ranges of RFC 6890 and its kin. */
const notPublic = { 4: new BlockList(), 6: new BlockList() };
const RANGES_4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4';
/** Of IPv6 only 2000::/3 is given out, and parts of that lead to other networks or to none. */
const RANGES_6 = '::/3 4000::/2 8000::/1 2001::/32 2001:20::/28 2001:db8::/32 2002::/16';
for (const [family, ranges] of [
  [4, RANGES_4],
  [6, RANGES_6],
] as const) {
  for (const range of ranges.split(' ')) {
    const [address = '', bits] = range.split('/');
    notPublic[family].addSubnet(address, Number(bits), `ipv${family}`);
  }
}

/** `::ffff:a.b.c.d` and NAT64, as Node writes them, reach the IPv4 host. */
function isForbidden(address: string): boolean {
  if (isIP(address) === 4) return notPublic[4].check(address, 'ipv4');
  const mapped = /^(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (mapped === null) return notPublic[6].check(address, 'ipv6');
  const value = Number.parseInt(mapped[1]!, 16) * 65_536 + Number.parseInt(mapped[2]!, 16);
  const bytes = [value / 2 ** 24, value / 2 ** 16, value / 256, value].map((one) => Math.floor(one) % 256);
  return notPublic[4].check(bytes.join('.'), 'ipv4');
}

const filter = createAddressFilter(['https://api.example']);
const BASE = 'https://api.example/prefix';
const TOKENS = [
  '//',
  '/',
  '@',
  ':',
  '?',
  '#',
  '%2f',
  '\\',
  '[',
  ']',
  '::',
  '::ffff:',
  '0x7f',
  '127.1',
  '.',
  '..',
  '％',
  '。',
];
const SCHEMES = ['http://', 'https://', 'data:', 'file:///', 'javascript:', 'ftp://', 'blob:'];
const HOSTS = [
  '169.254.169.254',
  'localhost',
  '[::1]',
  '[fd00:ec2::254]',
  '2130706433',
  '017700000001',
  '[::7f00:1]',
];
const ADDRESSES = [...TOKENS, ...SCHEMES, ...HOSTS, 'v1/', 'generated/', 'tmp/', '\u00ad', '\u200b', '１'];

const results = wireSamples('record');

/** Readers of addresses and ids. */
export const ADDRESS_PARSERS: readonly FuzzedParser[] = [
  {
    name: 'address filter',
    form: 'bytes',
    seeds: [
      'http://1.1.1.1/',
      'http://0x7f.1/',
      'https://[2606:4700::1111]:8443/a',
      'http://[::ffff:10.0.0.1]/',
      'http://172.20.1.1/',
      'http://[64:ff9b::a00:1]/',
    ].map((one) => Buffer.from(one)),
    words: ADDRESSES,
    parse: (input) => {
      const text = input.toString('utf8');
      isPublicAddress(text);
      if (!URL.canParse(text)) return undefined;
      const url = new URL(text);
      return { url, allowed: filter.allowsLiteral(url) };
    },
    wrong: (result) => {
      if (result === undefined) return undefined;
      const { url, allowed } = result as { url: URL; allowed: boolean };
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (!allowed || isIP(host) === 0) return undefined;
      return isForbidden(host) ? `it allows ${host}` : undefined;
    },
  },
  {
    name: 'result address',
    form: 'bytes',
    seeds: [
      'https://media.example/a.mp4?sig=1',
      '/v1/videos/t1/content',
      '//cdn.example/a',
      'data:video/mp4;base64,AAAA',
      '/tmp/a.mp4',
      'generated/a.png',
    ].map((one) => Buffer.from(one)),
    words: ADDRESSES,
    parse: (input) => resolveResultUrl(input.toString('utf8'), BASE),
    wrong: (result) => {
      if (result === undefined) return undefined;
      const text = result as string;
      if (/^data:/i.test(text)) return undefined;
      if (!URL.canParse(text)) return 'no address';
      const url = new URL(text);
      return /^https?:$/.test(url.protocol) && url.hostname !== ''
        ? undefined
        : `an address of ${url.protocol}`;
    },
  },
  {
    name: 'result addresses of a record',
    form: 'json',
    seeds: results,
    words: [...wordsOf(results), ...ADDRESSES],
    parse: (input) => resultUrlsOf(asObject(parseJsonBody(input)) ?? {}, BASE),
    wrong: (result) => {
      const urls = result as string[];
      if (urls.length > 16 || new Set(urls).size !== urls.length) return 'too many, or one twice';
      return urls.every((url) => /^(?:https?:\/\/|data:)/i.test(url)) ? undefined : 'an address of its own';
    },
  },
  {
    name: 'base address',
    form: 'bytes',
    seeds: ['https://api.example/prefix/v1/', 'HTTP://Host.example:80', 'https://[::1]:8443/a/b/'].map(
      (one) => Buffer.from(one),
    ),
    words: ADDRESSES,
    parse: (input) => normaliseBaseUrl(input.toString('utf8')),
    declares: (error) => error instanceof Error && !/https?:\/\/(?!host|\.| or)/.test(error.message),
    wrong: (result) => {
      if (result === undefined) return undefined;
      const text = result as string;
      if (normaliseBaseUrl(`${text}/v1`) !== text) return 'not one spelling';
      return apiUrl(text, 'videos').href === `${text}/v1/videos` ? undefined : 'a path that is not below it';
    },
  },
  {
    name: 'task id',
    form: 'bytes',
    seeds: ['task_01HXYZ', 'a/../b', '%2e%2e', 'ü😀', 'x'.repeat(512)].map((one) => Buffer.from(one)),
    words: [...TOKENS, '\0', '\u007f', '\ud800', '\u2028', '%2e', '%00', ' ', '\t', '.'],
    parse: (input) => {
      const id = input.toString('utf8');
      return isUsableTaskId(id) ? { id, url: apiUrl(BASE, 'videos', id, 'content') } : undefined;
    },
    wrong: (result) => {
      if (result === undefined) return undefined;
      const { id, url } = result as { id: string; url: URL };
      const [, prefix, v1, videos, own = '', content, ...more] = url.pathname.split('/');
      const inPlace =
        `${prefix}/${v1}/${videos}/${content}` === 'prefix/v1/videos/content' && more.length === 0;
      if (!inPlace || url.search !== '' || url.hash !== '' || url.host !== 'api.example')
        return 'it left its place';
      return decodeURIComponent(own) === id && id.length <= 512 ? undefined : 'another id';
    },
  },
];
