import { createAddressFilter, isPublicAddress, isWithinReach } from '../../src/service/address-filter';
import { networkCode } from '../../src/service/classify-reply';
import { rawLoopback } from './loopback-service';

const FORBIDDEN_HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
  ...['0', '0.0.0.0', '00', '127.255.255.254', '10.0.0.1', '10.1', '172.16.0.1', '172.31.255.255'],
  ...['192.168.0.1', '192.168.1', '169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376'],
  ...['100.64.0.1', '100.127.255.255', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['127.0.0.1.', '１２７.0.0.1', '127。0。0。1', '①②⑦.0.0.1'],
  ...[
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::7f00:1]',
    '[::127.0.0.1]',
    '[::10.0.0.1]',
    '[::ffff:127.0.0.1]',
  ],
  ...['[::ffff:7f00:1]', '[::ffff:10.0.0.1]', '[::ffff:169.254.169.254]', '[0:0:0:0:0:ffff:a9fe:a9fe]'],
  ...['[fe80::1]', '[febf::1]', '[fc00::1]', '[fd00:ec2::254]', '[fdff::1]', '[ff02::1]', '[2001:db8::1]'],
  ...[
    '[::a00:6e00:1]',
    '[64:ff9b:1::a00:1]',
    '[1fff::1]',
    '[4000::1]',
    '[5f00::1]',
    '[fec0::1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::10.0.0.1]',
    '[2002:7f00:1::]',
    '[2002:0a00:0001::]',
    '[2001::1]',
    '[100::1]',
  ],
];

const PUBLIC_HOSTS = [
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '192.169.1.1',
    '11.0.0.1',
  ],
  ...['169.253.0.1', '100.63.0.1', '100.128.0.1', '198.17.0.1', '198.20.0.1', '223.255.255.255'],
  ...['[2606:4700::1111]', '[2a00:1450:4001::1]', '[::ffff:8.8.8.8]', '[64:ff9b::8.8.8.8]'],
];

const NO_ADDRESS = [
  '',
  'localhost',
  'example.com',
  '127.0.0.1:80',
  '::1%',
  'x',
  '256.1.1.1',
  '1.2.3.4.5',
  '[::1]',
];

describe('the address filter', () => {
  const filter = createAddressFilter(['http://127.0.0.1:8080', 'no url']);

  it.each(FORBIDDEN_HOSTS)('the literal %s is forbidden', (host) => {
    expect(filter.allowsLiteral(new URL(`http://${host}/x`))).toBe(false);
  });

  it.each(PUBLIC_HOSTS)('the literal %s is public', (host) => {
    expect(filter.allowsLiteral(new URL(`https://${host}:8443/x`))).toBe(true);
  });

  it.each(NO_ADDRESS)('%j is no public address', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it.each(['fe80::1%eth0', '::ffff:127.0.0.1', '::7f00:1'])('the peer address %s is forbidden', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it('an allowed origin is exact: scheme, host and port', () => {
    expect(filter.allowsLiteral(new URL('http://127.0.0.1:8080/a'))).toBe(true);
    expect(filter.allowsLiteral(new URL('http://127.0.0.1:8081/a'))).toBe(false);
    expect(filter.allowsLiteral(new URL('https://127.0.0.1:8080/a'))).toBe(false);
  });

  it('a name is checked by what it resolves to, once it is resolved here', async () => {
    expect(filter.allowsLiteral(new URL('http://localhost/'))).toBe(true);
    expect(await filter.allowsHost(new URL('http://localhost/'))).toBe(false);
    expect(await filter.allowsHost(new URL('http://127.0.0.1:8080/'))).toBe(true);
    expect(await filter.allowsHost(new URL('http://does-not-exist.invalid/'))).toBe(true);
  });

  it('sockets are checked at the lookup and at the peer', async () => {
    const connect = filter.connector(5000);
    const open = (hostname: string, port: string): Promise<string> =>
      new Promise((resolve) => {
        connect({ protocol: 'http:', hostname, host: `${hostname}:${port}`, port }, (error, socket) => {
          socket?.destroy();
          resolve(networkCode(error));
        });
      });
    const server = await rawLoopback(() => undefined);
    expect(await open('localhost', String(server.port))).toBe('MEDIA_ADDRESS_BLOCKED');
    expect(server.connections()).toBe(0);
    // A literal is never looked up: only the check of the peer is left.
    expect(await open('127.0.0.1', String(server.port))).toBe('MEDIA_ADDRESS_BLOCKED');
    await server.close();
  });
});

test.each([
  ['https://bucket.s3.eu-west-1.amazonaws.com/x', 'https://api.example.com', true],
  ['https://8.8.8.8/x', 'https://api.example.com', true],
  ['http://minio:9000/x', 'https://api.example.com', false],
  ['http://minio.media.svc.cluster.local/x', 'https://api.example.com', false],
  ['http://store.internal/x', 'https://api.example.com', false],
  ['http://10.0.0.5:9000/x', 'https://api.example.com', false],
  ['http://[fd00::1]/x', 'https://api.example.com', false],
  ['http://127.0.0.1:9000/x', 'https://api.example.com', false],
  ['http://localhost:9000/x', 'http://10.0.0.9', false],
  ['http://10.0.0.5:9000/x', 'http://10.0.0.9', true],
  ['http://minio:9000/x', 'http://media-service', true],
  ['http://127.0.0.1:9000/x', 'http://127.0.0.1:8080', true],
  ['http://[::1]:9000/x', 'http://localhost:8080', true],
])('whether %s can be reached from %s: %s', (address, service, expected) => {
  expect(isWithinReach(new URL(address), new URL(service))).toBe(expected);
});
