import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedBundle, type BundleManifest } from '../../src/workflow-bundle';
import { sdkVersions, workflowDigest } from '../../src/workflow-bundle';

const ROOT = join(__dirname, '..', '..');
const SHIPPED = join(ROOT, 'lib', 'workflow-bundle');

describe('the bundle that comes with the package', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-shipped-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const withManifest = async (change: Partial<BundleManifest> = {}) => {
    const manifest = { v: 1, sdk: await sdkVersions(), digest: await workflowDigest(), ...change };
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
    return shippedBundle(folder);
  };

  it('is taken for exactly this SDK and this workflow code', async () => {
    expect(await withManifest()).toEqual({ codePath: join(folder, 'workflows.js') });
  });

  it.each(['@temporalio/common', '@temporalio/worker', '@temporalio/workflow'])(
    'is left alone when %s has another version, and says so',
    async (name) => {
      const sdk = await sdkVersions();
      expect(await withManifest({ sdk: { ...sdk, [name]: '1.24.99' } })).toEqual({
        because: `this package's bundle was built for ${name} 1.24.99, not ${sdk[name]}`,
      });
    },
  );

  it('is left alone when the workflow code is another', async () => {
    expect(await withManifest({ digest: '0123456789abcdef' })).toEqual({
      because: "this package's bundle was built from different workflow code",
    });
  });

  it('is missing beside the sources, or when its manifest is broken', async () => {
    const missing = { because: 'this package does not include a bundle' };
    expect(await shippedBundle()).toEqual(missing);
    await writeFile(join(folder, 'manifest.json'), '{"v":');
    expect(await shippedBundle(folder)).toEqual(missing);
  });

  it('is built for the SDK that is installed, and names no place of the machine that built it', async () => {
    const manifest = JSON.parse(await readFile(join(SHIPPED, 'manifest.json'), 'utf8')) as BundleManifest;
    expect(manifest.sdk).toEqual(await sdkVersions());
    const code = await readFile(join(SHIPPED, 'workflows.js'), 'utf8');
    expect(code.includes(ROOT)).toBe(false);
    const map = sourceMapOf(code);
    const places = new Set(map.sources.map((source) => source.split('/')[0]));
    expect(
      [...places].filter(
        (place) => !['node_modules', 'temporal-media', 'webpack', 'webpack:'].includes(place!),
      ),
    ).toEqual([]);
    expect(map.sources).toContain('temporal-media/src/workflows/generate-video.ts');
    expect(map.sourcesContent).toBeUndefined();
  });

  // Failures of workflow tasks, and the debugger, show the sources that are published.
  it('leads from its code to the line of the source', async () => {
    const code = await readFile(join(SHIPPED, 'workflows.js'), 'utf8');
    const call = code.indexOf('.waitForVideo)(', code.indexOf('async function generateVideo('));
    const before = code.slice(0, call).split('\n');
    const entry = new SourceMap(sourceMapOf(code)).findEntry(before.length - 1, before.at(-1)?.length ?? 0);
    expect(entry).toMatchObject({ originalSource: 'temporal-media/src/workflows/generate-video.ts' });
    const source = await readFile(join(ROOT, 'src', 'workflows', 'generate-video.ts'), 'utf8');
    const { originalLine } = entry as SourceMapping;
    expect(source.split('\n')[originalLine]).toContain('return waitForVideo(');
  });
});

function sourceMapOf(code: string): SourceMapPayload {
  return JSON.parse(
    Buffer.from(code.slice(code.lastIndexOf('base64,') + 7), 'base64').toString(),
  ) as SourceMapPayload;
}
