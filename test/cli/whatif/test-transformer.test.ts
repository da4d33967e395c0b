import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { missingTransformer } from '../../../packages/cli/src/whatif/written-test';

describe('where a test is saved', () => {
  let dir: string;
  const project = (content: string) => writeFile(path.join(dir, 'package.json'), content);
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-transformer-'));
    await mkdir(path.join(dir, 'packages', 'films'), { recursive: true });
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  test.each(['ts-jest', '@swc/jest', '@babel/preset-typescript'])(
    '%s is enough for a .ts file',
    async (name) => {
      const file = path.join(dir, 'packages', 'films', 'film.test.ts');
      await project(JSON.stringify({ devDependencies: { jest: '30.0.0', [name]: '1.0.0' } }));
      expect(await missingTransformer(file)).toBeUndefined();
    },
  );

  test.each(['{"devDependencies":{"jest":"30.0.0"}}', '{}', 'no JSON'])(
    'a project with %s needs one for a .ts file, and none for a .js file',
    async (content) => {
      await project(content);
      const file = path.join(dir, 'film.test.ts');
      expect(await missingTransformer(file)).toMatch(
        /ts-jest or @swc\/jest.*Install one, or pass a file name that ends in \.js/,
      );
      expect(await missingTransformer(path.join(dir, 'film.test.js'))).toBeUndefined();
    },
  );
});
