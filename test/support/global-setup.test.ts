import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { loadedAtOnce } from './loaded-at-once';
import { ROOT } from './sources';

it('the setup of all tests needs nothing of lib, which it brings: a new clone has none', () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const load = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const name of loadedAtOnce(readFileSync(file, 'utf8'))) {
      const found = [`${name}.ts`, `${name}/index.ts`, `${name}.js`]
        .map((one) => path.resolve(path.dirname(file), one))
        .find((one) => existsSync(one));
      if (name.startsWith('.') && found !== undefined) load(found);
      else packages.add(name);
    }
  };
  load(path.join(ROOT, 'test', 'global-setup.ts'));
  load(path.join(ROOT, 'test', 'global-teardown.ts'));
  expect(seen.size).toBeGreaterThan(20);
  expect([...packages].filter((name) => /^(?:@temporal-media\/|temporal-media)/.test(name))).toEqual([]);
});
