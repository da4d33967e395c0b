import { ConfigurationError, readConfig } from '../../src/settings/config';

describe('sizes of a worker by its environment', () => {
  it('has defaults, and takes what is given', () => {
    expect(readConfig({})).toMatchObject({ pollConnections: 64, downloadConnections: 32 });
    expect(readConfig({}).createsPerSecond).toBeUndefined();
    const given = {
      MEDIA_POLL_CONNECTIONS: '640',
      MEDIA_DOWNLOAD_CONNECTIONS: ' 8 ',
      MEDIA_CREATES_PER_SECOND: '0.5',
      MEDIA_CACHED_WORKFLOWS: '10000',
    };
    expect(readConfig(given)).toMatchObject({
      pollConnections: 640,
      downloadConnections: 8,
      createsPerSecond: 0.5,
      cachedWorkflows: 10_000,
    });
  });

  it.each([
    ['MEDIA_POLL_CONNECTIONS', '0'],
    ['MEDIA_POLL_CONNECTIONS', '1.5'],
    ['MEDIA_DOWNLOAD_CONNECTIONS', 'many'],
    ['MEDIA_CREATES_PER_SECOND', '-1'],
    ['MEDIA_CACHED_WORKFLOWS', '0.5'],
    ['MEDIA_CREATES_PER_SECOND', 'Infinity'],
  ])('refuses %s=%s and names the variable', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigurationError);
    expect(() => readConfig({ [name]: value })).toThrow(name);
  });
});
