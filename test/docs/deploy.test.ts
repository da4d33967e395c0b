import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import manifest from '../../package.json';
import cli from '../../packages/cli/package.json';
import { MEDIA_VARIABLES } from '../../packages/cli/src/config/variables';
import postgres from '../../packages/store-postgres/package.json';
import s3 from '../../packages/store-s3/package.json';
import { CREATE_TIMEOUTS } from '../../src/domain/timeouts';

const ROOT = path.resolve(__dirname, '..', '..');
const read = (name: string) => readFileSync(path.join(ROOT, 'deploy', name), 'utf8');

interface Container {
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
}

interface Resource {
  readonly kind: string;
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec: {
        readonly terminationGracePeriodSeconds?: number;
        readonly containers: readonly Container[];
        readonly volumes?: readonly Record<string, unknown>[];
      };
    };
  };
}

const resources = parseAllDocuments(read('kubernetes.yaml')).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS() as Resource;
});
const podOf = (kind: string) => resources.find((one) => one.kind === kind)?.spec?.template?.spec;

describe('deploy/kubernetes.yaml', () => {
  it('runs several workers on stores that all hosts reach, without a volume and a host id', () => {
    const pod = podOf('Deployment');
    expect(resources.find(({ kind }) => kind === 'Deployment')?.spec?.replicas).toBeGreaterThan(1);
    const env = new Map((pod?.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
    expect(env.get('MEDIA_ARTIFACTS')).toMatch(/^s3:\/\//);
    expect(env.has('MEDIA_JOURNAL')).toBe(true);
    expect(env.has('MEDIA_HOST_ID')).toBe(false);
    expect(pod?.volumes?.flatMap((volume) => Object.keys(volume)).filter((key) => key !== 'name')).toEqual([
      'emptyDir',
      'secret',
    ]);
  });

  it('sets only variables that the worker reads', () => {
    const known = new Set(MEDIA_VARIABLES.map(({ name }) => name));
    const names = resources.flatMap(({ spec }) =>
      (spec?.template?.spec.containers ?? []).flatMap(({ env = [] }) => env.map(({ name }) => name)),
    );
    expect(names.filter((name) => name.startsWith('MEDIA_') && !known.has(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(10);
  });

  it('lets a create finish: the pod has longer than the worker takes to drain', () => {
    const seconds = podOf('Deployment')?.terminationGracePeriodSeconds ?? 0;
    expect(seconds * 1_000).toBeGreaterThan(CREATE_TIMEOUTS.httpBudgetMs + 15_000);
    expect(seconds).toBeGreaterThanOrEqual(300);
  });

  it('asks the probes that the worker answers', () => {
    const [container] = podOf('Deployment')?.containers ?? [];
    const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;
    expect(probes.map((probe) => container?.[probe]?.httpGet.path)).toEqual(['/readyz', '/readyz', '/livez']);
    const health = container?.env?.find(({ name }) => name === 'MEDIA_HEALTH_ADDRESS')?.value;
    expect(health).toBe(`:${container?.ports?.[0]?.containerPort}`);
  });

  it('makes the table of the journal by the command for it', () => {
    expect(podOf('Job')?.containers[0]?.args).toEqual(['journal', 'migrate']);
  });
});

describe('deploy/Containerfile', () => {
  const text = read('Containerfile');

  it('installs the package of this version, with every peer that a worker on shared stores needs', () => {
    expect(text).toContain(`ARG VERSION=${manifest.version}\n`);
    const own = ['temporal-media', cli.name, postgres.name, s3.name];
    const optional = new Set(Object.keys(manifest.peerDependenciesMeta));
    const peers = Object.keys(manifest.peerDependencies).filter((name) => !optional.has(name));
    const installed = [...text.matchAll(/((?:@[a-z-]+\/)?[a-z0-9-]+)@(?:\d|\$VERSION)/g)].map(
      ([, name]) => name,
    );
    expect(installed.sort()).toEqual([...own, ...peers].sort());
  });

  it('starts the command without a shell, as a user without rights', () => {
    expect(text).toContain(`"/app/node_modules/${cli.name}/${cli.bin['temporal-media'].slice(2)}"`);
    expect(text).toMatch(/^USER node$/m);
  });
});
