import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DoctorFacts } from '../../packages/cli/src/doctor/check';
import { artifacts as storeCheck } from '../../packages/cli/src/doctor/local';
import { historyToJson } from '../../packages/replay/src/history-codec';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { readConfig } from '../../src/settings/config';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { describeWithS3, newBucket } from './support/s3';

describeWithS3()('a film whose model takes its references as URLs, from a bucket', () => {
  let server: S3Server;
  let stack: MediaStack;
  let env: Record<string, string>;

  beforeAll(async () => {
    [server, stack] = await Promise.all([
      startS3(),
      startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } }),
    ]);
    // The AWS SDK reads those of its process.
    Object.assign(process.env, server.env);
    env = { MEDIA_ARTIFACTS: `s3://${await newBucket(server)}/media` };
    await stack.startWorker({ env });
  });
  afterAll(async () => {
    await stack.stop();
    await server.stop();
  });

  it('[C2.1.4] [C5.4b] poster, edit and film: the service gets a signed address, which no history and no file has', async () => {
    const { media, sandbox } = stack;
    const poster = await media.images.start(
      {
        request: { model: 'image-2', prompt: 'a poster', size: '512x512' },
      },
      { as: 'workflow' },
    );
    const drawn = await poster.result();
    if (drawn.outcome !== 'completed' || drawn.images[0] == null) throw new Error(drawn.outcome);
    const edit = await media.images.start(
      {
        request: { model: 'image-2', prompt: 'at night', images: [{ artifact: drawn.images[0] }] },
      },
      { as: 'workflow' },
    );
    const edited = await edit.result();
    if (edited.outcome !== 'completed' || edited.images[0] == null) throw new Error(edited.outcome);
    const [artifact] = edited.images;
    const film = await media.startVideo({
      request: {
        model: 'cine-1',
        prompt: 'it turns slowly',
        durationSeconds: 2,
        references: [{ kind: 'image', source: { artifact } }],
      },
    });
    expect(await film.result()).toMatchObject({ outcome: 'completed', video: { referenceMode: 'image:1' } });

    const [create] = await sandbox.admin.requests({ operation: 'create' });
    expect(create?.violations).toEqual([]);
    const [url = ''] = (create?.json as { readonly reference_images: readonly string[] }).reference_images;
    const address = new URL(url);
    expect([address.origin, address.searchParams.get('X-Amz-Expires')]).toEqual([server.endpoint, '3600']);
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(artifact.sha256);

    const signature = address.searchParams.get('X-Amz-Signature') ?? '';
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    const kept = [await filesBelow(stack.dataDir), ...(await histories([poster, edit, film]))].join('\n');
    expect(kept).toContain(artifact.sha256);
    expect(kept).not.toContain(signature);
    expect(kept).not.toContain('X-Amz-');
  });

  it('doctor names the variable where the service cannot reach the bucket', async () => {
    const config = readConfig({ ...stack.env, ...env });
    const facts = (baseUrl: string) => ({ config, workerSide: true, accounts: [{ baseUrl, config }] });
    const check = (baseUrl: string) => storeCheck.run(facts(baseUrl) as unknown as DoctorFacts);
    expect(await check(stack.sandbox.url)).toMatchObject({ state: 'ok' });
    expect(await check('https://api.example.com')).toMatchObject({
      state: 'warning',
      message: expect.stringMatching(/cine-1.*AWS_ENDPOINT_URL_S3/) as unknown,
    });
  });

  /** With their payloads in the clear. */
  async function histories(started: readonly { readonly workflowId: string }[]): Promise<string[]> {
    return Promise.all(
      started.map(async ({ workflowId }) => {
        const history = await stack.server.client.workflow.getHandle(workflowId).fetchHistory();
        return JSON.stringify(historyToJson(history)).replaceAll(
          /"data":"([^"]+)"/g,
          (_all, data: string) => `"data":${Buffer.from(data, 'base64').toString('utf8')}`,
        );
      }),
    );
  }
});

async function filesBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
  return [...files.map(({ name }) => name), ...(await Promise.all(texts))].join('\n');
}
