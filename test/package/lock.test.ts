import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Lock {
  readonly packages: Record<
    string,
    { readonly version?: string; readonly resolved?: string; readonly engines?: { readonly node?: string } }
  >;
}

const lock = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package-lock.json'), 'utf8')) as Lock;

describe('package-lock.json', () => {
  it.each([
    '@swc/core-linux-x64-gnu',
    '@swc/core-linux-arm64-gnu',
    '@swc/core-darwin-x64',
    '@swc/core-darwin-arm64',
    '@swc/core-win32-x64-msvc',
    '@unrs/resolver-binding-linux-x64-gnu',
    '@unrs/resolver-binding-linux-arm64-gnu',
    '@unrs/resolver-binding-darwin-x64',
    '@unrs/resolver-binding-darwin-arm64',
    '@unrs/resolver-binding-win32-x64-msvc',
  ])('holds %s: npm ci works on linux, darwin and win32', (name) => {
    const parent = name.startsWith('@swc/') ? '@swc/core' : 'unrs-resolver';
    expect(lock.packages[`node_modules/${name}`]?.version).toBe(
      lock.packages[`node_modules/${parent}`]?.version,
    );
  });

  // By the dependency of the sandbox, npm takes light-my-request, which fastify needs, below 6.8, whose cookie wants Node 22.
  it('holds nothing but the AI SDK that wants a newer Node than this package: npm prints no other EBADENGINE', () => {
    const newer = Object.entries(lock.packages).filter(([, { engines }]) => {
      const ranges = (engines?.node ?? '*').split('||');
      return ranges.every((range) => Number(/\d+/.exec(range)?.[0] ?? 0) > 20);
    });
    // The AI SDK 7 asks for Node 22, but test/ai-sdk runs it with this one. Nothing else needs it.
    expect(newer.map(([name]) => name)).toEqual([
      'node_modules/@ai-sdk/provider',
      ...['@ai-sdk/gateway', '@ai-sdk/provider-utils', 'ai'].map(
        (name) => `packages/ai-sdk/node_modules/${name}`,
      ),
    ]);
  });

  it('names no registry host', () => {
    const hosts = Object.values(lock.packages).flatMap(({ resolved }) =>
      resolved?.includes(':') ? [resolved] : [],
    );
    expect(hosts).toEqual([]);
  });
});
