import { defaultPayloadConverter, type StorageDriver, type StorageDriverClaim } from '@temporalio/common';
import { createPayloadDriver } from '../../packages/store-s3/src/payload-driver';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { type FaultProxy, startFaultProxy } from './support/fault-proxy';
import { clientOf, describeWithS3, newBucket } from './support/s3';

describeWithS3()('payloads in a bucket', () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let address: string;
  beforeAll(async () => {
    server = await startS3();
    proxy = await startFaultProxy(server.endpoint);
    address = `s3://${await newBucket(server)}`;
  });
  afterAll(async () => {
    await proxy?.close();
    await server?.stop();
  });
  afterEach(() => {
    proxy.cutBodyAt = undefined;
  });

  const newDriver = () => createPayloadDriver(address, clientOf(server, proxy));
  const stored = async (driver: StorageDriver, text: string, id = 'film'): Promise<StorageDriverClaim> => {
    const target = { kind: 'workflow', namespace: 'default', id, type: 'generateVideo' } as const;
    const [claim] = await driver.store({ target }, [defaultPayloadConverter.toPayload(text)]);
    if (claim === undefined) throw new Error('stored nothing');
    return claim;
  };
  const read = async (driver: StorageDriver, claim: StorageDriverClaim): Promise<unknown> => {
    const [payload] = await driver.retrieve({}, [claim]);
    return defaultPayloadConverter.fromPayload(payload ?? {});
  };
  /** Methods of the requests that this takes. */
  async function requestsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
    const before = proxy.requests.length;
    await work();
    return proxy.requests.slice(before).map(({ method }) => method);
  }

  it.each(['весна-' + 'я'.repeat(300), `${'~'.repeat(120)}/batch/0`, 'x'.repeat(1_000)])(
    'an id of any length fits into a key, and the reference leads any reader to it (%#)',
    async (id) => {
      const claim = await stored(newDriver(), 'a distant kite', id);
      const parts = (claim.claimData['key'] ?? '').split('/');
      expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(255);
      expect(await read(newDriver(), claim)).toBe('a distant kite');
      const other = await stored(newDriver(), 'a distant kite', `${id}2`);
      expect(other.claimData['key']).not.toBe(claim.claimData['key']);
    },
  );

  it('a repeated workflow task transfers nothing again', async () => {
    const driver = newDriver();
    let claim = await stored(driver, 'a near boat');
    expect(await requestsOf(() => stored(driver, 'a near boat'))).toEqual([]);
    expect(await requestsOf(() => read(driver, claim))).toEqual([]);
    // A worker that has just started reads, and finds what another stored.
    const fresh = newDriver();
    expect(await requestsOf(async () => (claim = await stored(fresh, 'a near boat')))).toEqual(['HEAD']);
    expect(await requestsOf(() => stored(fresh, 'a near boat'))).toEqual([]);
    expect(await requestsOf(() => read(fresh, claim))).toEqual(['GET']);
    expect(await requestsOf(() => read(fresh, claim))).toEqual([]);
  });

  it('a reply that breaks off is read again', async () => {
    const claim = await stored(newDriver(), 'a kite whose string breaks');
    const driver = newDriver();
    proxy.cutBodyAt = 8;
    await read(driver, claim).catch(() => undefined);
    expect(await read(driver, claim)).toBe('a kite whose string breaks');
  });
});
