/**
 * Addresses that must never be connected to. PORT is where a listener on 127.0.0.1 counts; it is in every form, so that a
 * form which gets through is seen.
 */
export interface Form {
  readonly url: string;
  /** What the client says: nothing was sent to that place, and why. */
  readonly says: 'address' | 'scheme' | 'userinfo' | 'no such host' | 'no url';
}

const words = (text: string) => text.trim().split(/\s+/);

/** Literals of IPv4 in every notation that a URL parser knows. */
const IPV4 = words(`
  127.0.0.1 127.1 127.0.1 127.000.000.001 2130706433 0x7f000001 0x7f.1 0x7f.0.0.1 0x7F.0x0.0x0.0x1 0177.0.0.1 0177.0.1
  017700000001 0177.0x0.0.1 127.0.0.1. 2130706433. 0x7f.0.1 127.255.255.254 127.0.0.2
  0 0.0.0.0 00 0x0 0.0.0.0. 0.1.2.3
  10.0.0.1 10.1 0xa000001 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 0300.0250.1 3232235521
  169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 0xa9.0xfe.0xa9.0xfe 169.254.169.253
  169.254.170.2 100.100.100.200 100.64.0.1 100.127.255.255 168.63.129.16 0xa83f8110 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1
  198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 4294967295 0xffffffff
  １２７.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.① 1②⑦.0.0.1 １２７．０．０．１ 127%2e0%2e0%2e1 %31%32%37.0.0.1 ⑯⑨.254.⑯⑨.254
`);

/** Literals of IPv6: loopback, local, reserved, and IPv4 in disguise. */
const IPV6 = words(`
  [::] [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [0::1] [::0001] [::127.0.0.1] [::7f00:1]
  [::10.0.0.1] [::a9fe:a9fe] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001] [0:0:0:0:0:ffff:127.0.0.1]
  [::ffff:10.0.0.1] [::ffff:169.254.169.254] [::ffff:168.63.129.16] [64:ff9b::168.63.129.16] [::ffff:0.0.0.0] [::ffff:0:127.0.0.1] [::ffff:0:7f00:1]
  [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b::169.254.169.254] [64:ff9b:1::7f00:1]
  [64:ff9b:1:fffe::8.8.8.8] [2002:7f00:1::] [2002:7f00:1::1] [2002:a00:1::] [2002:a9fe:a9fe::] [2002:c0a8:1::]
  [2001::1] [2001:0:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe] [2001:0:808:808::f5ff:fffe]
  [fe80::1] [febf::1] [fec0::1] [fc00::1] [fd00:ec2::254] [fd20:ce::254] [fdff::1] [ff02::1] [ff0e::1] [2001:db8::1]
  [3fff::1] [100::1] [100:0:0:1::1] [200::1] [4000::1] [5f00::1] [8000::1] [1::1] [::1:0:0:7f00:1] [2001:2::1]
  [2001:10::1] [2001:20::1]
`);

const NO_URL = words(`
  [fe80::1%25eth0] [fe80::1%eth0] [::1%25lo] [::ffff:127.0.0.1%25lo] [::1 ::1] 127.0.0.256 0x100000000 4294967296
  127.0.0.1.1.1 [::ffff:127.0.0.256] 127..1 0x7f.0x0.0x0.0x100
`);

/** Names, and the addresses that the resolver of the test gives for them; none is unknown. */
export const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'foo.localhost': ['127.0.0.1'],
  'ip6-localhost': ['::1'],
  'localtest.me': ['127.0.0.1'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  '7f000001.c0a80001.rbndr.us': ['127.0.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  metadata: ['169.254.169.254'],
  'instance-data.ec2.internal': ['169.254.169.254', 'fd00:ec2::254'],
  'kubernetes.default.svc': ['10.96.0.1'],
  'private.test': ['192.168.1.1'],
  'carrier.test': ['100.64.0.1'],
  'zero.test': ['0.0.0.0'],
  'any6.test': ['::'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'compatible.test': ['::7f00:1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  '6to4.test': ['2002:7f00:1::'],
  'teredo.test': ['2001:0:7f00:1::'],
  'link.test': ['fe80::1%lo'],
  'scoped.test': ['2606:4700::1111%lo'],
  'multicast.test': ['224.0.0.1'],
  'public-then-private.test': ['93.184.216.34', '127.0.0.1'],
  'private-then-public.test': ['127.0.0.1', '93.184.216.34'],
  'public4-private6.test': ['93.184.216.34', '::1'],
  'public6-private4.test': ['2606:4700::1111', '127.0.0.1'],
  'many-and-one.test': ['93.184.216.34', '93.184.216.35', '93.184.216.36', '10.0.0.1'],
  // A resolver follows a CNAME by itself: what arrives is the end of the chain.
  'cname-to-private.test': ['127.0.0.1'],
  'xn--e1afmkfd.test': ['127.0.0.1'],
};

/** A public name whose one record moves: the first answer is public, the machine behind it is loopback. */
export const REBINDING = 'rebinding.test';
export const REBINDING_PUBLIC = '93.184.216.34';

const SCHEMES = words(`
  file:///etc/passwd file://127.0.0.1/x ftp://127.0.0.1:PORT/x gopher://127.0.0.1:PORT/_GET dict://127.0.0.1:PORT/x
  ldap://127.0.0.1:PORT/ ws://127.0.0.1:PORT/ wss://127.0.0.1:PORT/ blob:http://127.0.0.1:PORT/x javascript:alert(1)
  data:video/mp4;base64,AAAA about:blank jar:http://127.0.0.1:PORT/!/ view-source:http://127.0.0.1:PORT/ tftp://127.0.0.1:PORT/x
  unix:/run/x.sock netdoc:///etc/passwd smb://127.0.0.1:PORT/x mailto:a@b.test urn:x
`);

/** Hosts that look like another one. */
const TRICKS: readonly Form[] = [
  { url: 'http://user@127.0.0.1:PORT/', says: 'userinfo' },
  { url: 'http://user:secret@127.0.0.1:PORT/', says: 'userinfo' },
  { url: 'http://media.test@127.0.0.1:PORT/', says: 'userinfo' },
  { url: 'http://media.test:80@127.0.0.1:PORT/', says: 'userinfo' },
  { url: 'http://media.test%40x@127.0.0.1:PORT/', says: 'userinfo' },
  { url: 'http://:secret@127.0.0.1:PORT/', says: 'userinfo' },
  { url: 'http://a@b@127.0.0.1:PORT/', says: 'userinfo' },
  { url: 'http://@127.0.0.1:PORT/', says: 'address' },
  { url: 'http:127.0.0.1:PORT/', says: 'address' },
  { url: 'http:\\\\127.0.0.1:PORT\\x', says: 'address' },
  { url: 'http:////127.0.0.1:PORT/', says: 'address' },
  { url: 'http://127.0.0.1:PORT\\@media.test/', says: 'address' },
  { url: 'http://127.0.0.1:PORT#@media.test/', says: 'address' },
  { url: 'http://127.0.0.1:PORT?@media.test/', says: 'address' },
  { url: 'http://12\t7.0.0.1:PORT/', says: 'address' },
  { url: 'http://127.0.0.1\n:PORT/', says: 'address' },
  { url: ' http://127.0.0.1:PORT/ ', says: 'address' },
  { url: 'HTTP://127.0.0.1:PORT/', says: 'address' },
  { url: 'http://127\u00ad.0.0.1:PORT/', says: 'address' },
  { url: 'http://LOCALHOST:PORT/', says: 'address' },
  { url: 'http://ｌｏｃａｌｈｏｓｔ:PORT/', says: 'address' },
  { url: 'http://lo\u200dcalhost:PORT/', says: 'no url' },
  { url: 'http://media.test\\@127.0.0.1:PORT/', says: 'no such host' },
  { url: 'http://media.test/@127.0.0.1:PORT/', says: 'no such host' },
  { url: 'http://media.test#@127.0.0.1:PORT/', says: 'no such host' },
  { url: 'http://127.0.0.1:0PORT/', says: 'address' },
  { url: 'http://127.0.0.1:22/', says: 'address' },
  { url: 'http://127.0.0.1:0/', says: 'address' },
  { url: 'http://127.0.0.1/', says: 'address' },
  { url: 'https://127.0.0.1:PORT/', says: 'address' },
  { url: 'http://127.0.0.1:PORT@media.test:80/', says: 'userinfo' },
  { url: 'http://media.test:PORT@/', says: 'no url' },
  { url: 'http://127.0.0.1:99999/', says: 'no url' },
  { url: 'http://127.0.0.1:PORT:80/', says: 'no url' },
  { url: 'http://[127.0.0.1]:PORT/', says: 'no url' },
  { url: 'http://127.0.0.1\u0000.media.test:PORT/', says: 'no url' },
];

export function forbiddenForms(port: number): Form[] {
  const at = (host: string) => `http://${host}:PORT/x`;
  const forms: Form[] = [
    ...[...IPV4, ...IPV6].map((host): Form => ({ url: at(host), says: 'address' })),
    ...NO_URL.map((host): Form => ({ url: at(host), says: 'no url' })),
    ...Object.keys(NAMES).map((host): Form => ({ url: at(host), says: 'address' })),
    ...SCHEMES.map((url): Form => ({ url, says: 'scheme' })),
    ...TRICKS,
  ];
  return forms.map(({ url, says }) => ({ url: url.replaceAll('PORT', String(port)), says }));
}

/** Literals that are public: judged, never connected to. */
export const PUBLIC = words(`
  1.1.1.1 8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 192.167.1.1 192.169.1.1 11.0.0.1 169.253.0.1 169.255.0.1 100.63.0.1
  100.128.0.1 198.17.0.1 198.20.0.1 223.255.255.255 9.255.255.255 126.255.255.255 128.0.0.1 191.255.255.255
  [2606:4700::1111] [2a00:1450:4001::1] [2001:4860:4860::8888] [2600::1] [2c0f::1] [2003::1] [3000::1]
  [::ffff:8.8.8.8] [64:ff9b::8.8.8.8] [64:ff9b::808:808]
`);
