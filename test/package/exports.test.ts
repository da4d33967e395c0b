import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as activities from '../../src/activities';
import * as client from '../../src/client';
import * as domain from '../../src/domain';
import * as stores from '../../src/stores';
import * as postgres from '../../src/postgres';
import * as s3 from '../../src/s3';
import * as nexus from '../../src/nexus';
import * as plugin from '../../src/plugin';
import * as replay from '../../src/replay';
import * as testing from '../../src/testing';
import * as testingWorkflows from '../../src/testing/workflows';
import * as worker from '../../src/worker';
import * as workflows from '../../src/workflows';
import manifest from '../../package.json';

const ROOT = join(__dirname, '..', '..');

describe('package exports', () => {
  it('every subpath leads to a built file with its types, under node16 and under typesVersions', () => {
    for (const [subpath, target] of Object.entries(manifest.exports)) {
      if (typeof target === 'string') continue;
      expect(existsSync(join(ROOT, target.default))).toBe(true);
      expect(existsSync(join(ROOT, target.types))).toBe(true);
      const name = subpath.slice(2) as keyof (typeof manifest.typesVersions)['*'];
      if (subpath !== '.') expect(manifest.typesVersions['*'][name]).toEqual([target.types]);
    }
  });

  it('the built command is executable, also after a clean build: npx in a clone sees to it only once', () => {
    const { mode } = statSync(join(ROOT, manifest.bin['temporal-media']));
    expect(mode & 0o111).toBe(0o111);
  });

  it('the names are API', () => {
    const names = {
      '.': domain,
      './activities': activities,
      './client': client,
      './stores': stores,
      './postgres': postgres,
      './s3': s3,
      './plugin': plugin,
      './nexus': nexus,
      './replay': replay,
      './testing': testing,
      './testing/workflows': testingWorkflows,
      './worker': worker,
      './workflows': workflows,
    };
    expect(
      Object.fromEntries(Object.entries(names).map(([path, module]) => [path, Object.keys(module).sort()])),
    ).toMatchSnapshot();
  });

  it('every peer that only tests or one kind of store need is optional', () => {
    const optional = Object.keys(manifest.peerDependenciesMeta);
    expect(optional).toEqual(
      expect.arrayContaining([
        '@temporalio/testing',
        '@opentelemetry/api',
        'fastify',
        '@fastify/multipart',
        'h264-mp4-encoder',
        'pg',
        '@aws-sdk/client-s3',
        '@aws-sdk/lib-storage',
        '@aws-sdk/s3-request-presigner',
      ]),
    );
    expect(Object.keys(manifest.dependencies)).not.toEqual(expect.arrayContaining(optional));
  });
});
