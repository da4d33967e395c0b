import { createMediaClient } from '../../src/service/create-media-client';
import { keySecrets } from '../../src/service/endpoint';
import { readConfig } from '../../src/settings/config';
import { json, loopback, type Loopback } from './loopback-service';

describe('a service without keys', () => {
  let service: Loopback;
  beforeEach(async () => {
    service = await loopback((_request, response) => json(response, 404, { error: 'none of the tasks' }));
  });
  afterEach(() => service.close());

  async function ask(MEDIA_API_KEY: string) {
    const client = createMediaClient({
      baseUrl: service.origin,
      apiKey: readConfig({ MEDIA_API_KEY }).apiKey,
    });
    try {
      return await client.getVideo('video_1', {});
    } finally {
      await client.close();
    }
  }

  it('is asked without an Authorization header, and its words are not taken for the key', async () => {
    const result = await ask('none');
    expect(service.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(result).toMatchObject({ httpStatus: 404, taskError: { message: 'none of the tasks' } });
  });

  it('[C5.1] any other key is sent with every request', async () => {
    await ask('a-key');
    expect(service.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer a-key']);
  });

  it('leaves nothing to hide from logs, where any other key is hidden', () => {
    expect([keySecrets('none'), keySecrets(''), keySecrets('a-key')]).toEqual([[], [], ['a-key']]);
  });

  it('is named as the way out where a key is missing', () => {
    expect(() => readConfig({}).apiKey()).toThrow(/`none` for a service without keys/);
  });
});
