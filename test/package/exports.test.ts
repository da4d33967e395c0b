import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json';
import * as aiSdk from '../../packages/ai-sdk/src';
import cli from '../../packages/cli/package.json';
import mcp from '../../packages/mcp/package.json';
import * as notices from '../../packages/notices/src';
import * as progress from '../../packages/progress/src';
import * as replay from '../../packages/replay/src';
import * as report from '../../packages/report/src';
import * as sandbox from '../../packages/sandbox/src';
import * as postgres from '../../packages/store-postgres/src';
import * as s3 from '../../packages/store-s3/src';
import * as testing from '../../packages/testing/src';
import * as testingWorkflows from '../../packages/testing/src/workflows';
import * as activities from '../../src/activities';
import * as client from '../../src/client';
import * as domain from '../../src/domain';
import * as nexus from '../../src/nexus';
import * as plugin from '../../src/plugin';
import * as stores from '../../src/stores';
import * as worker from '../../src/worker';
import * as workflows from '../../src/workflows';
import { manifestOf, ROOT, SOURCE_FOLDERS } from '../support/sources';

describe('package exports', () => {
  it.each(SOURCE_FOLDERS)(
    'of %s: every subpath leads to a built file with its types, under node16 and under typesVersions',
    (sources) => {
      const folder = join(ROOT, sources, '..');
      const { exports, typesVersions } = manifestOf(sources);
      for (const [subpath, target] of Object.entries(exports)) {
        // What other packages of this repository use has no promise, and no entry for old resolution.
        if (typeof target === 'string' || subpath === './internal/*') continue;
        expect(existsSync(join(folder, target.default))).toBe(true);
        expect(existsSync(join(folder, target.types))).toBe(true);
        if (subpath !== '.') expect(typesVersions?.['*'][subpath.slice(2)]).toEqual([target.types]);
      }
    },
  );

  it.each([
    ['cli', cli.bin['temporal-media']],
    ['mcp', mcp.bin['temporal-media-mcp']],
  ])(
    'the command of %s is executable, and there before the build: npm links it when it installs',
    (name, bin) => {
      const { mode } = statSync(join(ROOT, 'packages', name, bin));
      expect(mode & 0o111).toBe(0o111);
    },
  );

  it('the names are API', () => {
    const names = {
      'temporal-media': domain,
      'temporal-media/activities': activities,
      'temporal-media/client': client,
      'temporal-media/nexus': nexus,
      'temporal-media/plugin': plugin,
      'temporal-media/stores': stores,
      'temporal-media/worker': worker,
      'temporal-media/workflows': workflows,
      '@temporal-media/ai-sdk': aiSdk,
      '@temporal-media/notices': notices,
      '@temporal-media/progress': progress,
      '@temporal-media/replay': replay,
      '@temporal-media/report': report,
      '@temporal-media/sandbox': sandbox,
      '@temporal-media/store-postgres': postgres,
      '@temporal-media/store-s3': s3,
      '@temporal-media/testing': testing,
      '@temporal-media/testing/workflows': testingWorkflows,
    };
    expect(
      Object.fromEntries(Object.entries(names).map(([path, module]) => [path, Object.keys(module).sort()])),
    ).toMatchSnapshot();
  });

  it('a peer that only some workers need is optional', () => {
    expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(['@opentelemetry/api']);
  });
});
