import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** One folder is one runtime: what a file may import follows from where it lies. */
const only = (files, allowed, message) => ({
  files,
  rules: {
    'no-restricted-imports': ['error', { patterns: [{ regex: allowed, message }] }],
  },
});

export default tseslint.config(
  { ignores: ['lib', 'coverage', 'node_modules', 'out', '.data', 'test/golden'] },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked.map((c) => ({ ...c, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'TSEnumDeclaration',
          message: 'No enums: use string unions, they survive serialisation.',
        },
      ],
      'max-lines': ['error', { max: 400 }],
    },
  },
  only(['src/domain/**/*.ts'], '^(?!\\./)', 'domain is pure: it imports nothing but its own files.'),
  only(
    ['src/workflows/**/*.ts'],
    '^(?!\\./|\\.\\./domain/|@temporalio/(workflow|common|common/lib/time)$)',
    'Workflow code is deterministic: domain and @temporalio/workflow only.',
  ),
  only(
    ['src/domain/campaign/**/*.ts'],
    '^(?!\\./|\\.\\./[a-z-]+$)',
    'domain is pure: it imports nothing but its own files.',
  ),
  only(
    ['src/workflows/campaign/**/*.ts'],
    '^(?!\\./|\\.\\./[a-z-]+$|\\.\\./\\.\\./domain/|@temporalio/(workflow|common|common/lib/time)$)',
    'Workflow code is deterministic: domain and @temporalio/workflow only.',
  ),
  only(
    ['src/manifest/**/*.ts'],
    '^(?!\\./|\\.\\./(domain|files|artifacts|models)/|csv-parse$|csv-stringify$|lru-cache$|zod$|node:)',
    'Manifests are read without a service: domain, models, files, stores, the CSV parser and node: only.',
  ),
  only(
    ['src/report/**/*.ts'],
    '^(?!\\./|\\.\\./(domain|files|artifacts)/|csv-stringify(/sync)?$|eta$|lru-cache$|yazl$|node:)',
    'A report is made of artifacts: domain, files, stores, templates and node: only.',
  ),
  only(
    ['src/service/**/*.ts'],
    '^(?!\\./|\\.\\./domain/|undici$|zod$|ipaddr\\.js$|lru-cache$|node:)',
    'The service client knows no Temporal: domain, undici, zod and node: only.',
  ),
  only(['src/files/**/*.ts'], '^(?!\\./|node:)', 'Files on a disk, whatever is in them: node: only.'),
  only(
    ['src/artifacts/**/*.ts', 'src/journal/**/*.ts'],
    '^(?!\\./|\\.\\./(domain|files)/|zod$|mp4box$|image-size$|node:)',
    'Stores hold bytes and records: domain, files, parsers and node: only.',
  ),
  only(
    ['src/models/**/*.ts'],
    '^(?!\\./|\\.\\./domain/|\\.\\./service/|undici$|zod$|node:)',
    'The model configuration is data: domain, service HTTP, zod and node: only.',
  ),
  only(
    ['src/activities/**/*.ts'],
    '^(?!\\./|\\.\\./(domain|files|service|artifacts|journal|models|binding)/|@temporalio/(activity|common)$|node:)',
    'Activities glue service, stores and Temporal together; they know no workflow code and no command line.',
  ),
  only(
    ['src/binding/**/*.ts'],
    '^(?!\\./|\\.\\./(domain|artifacts)/|@temporalio/(activity|client|common)$|node:)',
    'The ledger is asked by activities and workers: domain, stores and the clients of Temporal only.',
  ),
  only(
    ['src/activities/campaign/**/*.ts'],
    '^(?!\\./|\\.\\./[a-z-]+$|\\.\\./\\.\\./(domain|files|service|artifacts|journal|models|manifest)/|@temporalio/(activity|common)$|lru-cache$|node:)',
    'Activities glue service, stores and Temporal together; they know no workflow code and no command line.',
  ),
  only(
    ['src/testing/sandbox/**/*.ts'],
    '^(?!\\./|\\.\\./|fastify$|@fastify/multipart$|h264-mp4-encoder$|pngjs$|node:)|^\\.\\./\\.\\./',
    'The sandbox validates the client: it is written from the contract and shares no code with it.',
  ),
  { files: ['src/**/*.ts'], ignores: ['src/cli/**', 'src/testing/**'], rules: { 'no-console': 'error' } },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: {
        require: 'readonly',
        module: 'writable',
        process: 'readonly',
        console: 'readonly',
        __dirname: 'readonly',
      },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
