import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Lock {
  readonly packages: Record<string, { readonly version?: string; readonly resolved?: string }>;
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

  it('names no registry host', () => {
    const hosts = Object.values(lock.packages).flatMap(({ resolved }) =>
      resolved === undefined ? [] : [resolved],
    );
    expect(hosts).toEqual([]);
  });
});
