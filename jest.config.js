/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/global-setup.ts',
  globalTeardown: '<rootDir>/test/global-teardown.ts',
  testMatch: ['**/*.test.ts'],
  // Long ones, and those that need what not every machine has, with commands of their own: `npm run verify:stores`,
  // `verify:languages`, `verify:installed`, `verify:replays` and `verify:browser`.
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/store-servers/',
    '<rootDir>/test/languages/',
    '<rootDir>/test/installed/',
    '<rootDir>/test/replays/',
    '<rootDir>/test/browser/',
  ],
  transform: {
    '^.+\\.[tj]s$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  // Packages import each other by name, as users do: tests run the sources.
  moduleNameMapper: {
    '^temporal-media$': '<rootDir>/src/domain/index.ts',
    '^temporal-media/(workflows|activities|stores)$': '<rootDir>/src/$1/index.ts',
    '^temporal-media/(worker|client|plugin|nexus)$': '<rootDir>/src/$1.ts',
    '^temporal-media/internal/(.*)$': '<rootDir>/src/$1',
    '^@temporal-media/testing/workflows$': '<rootDir>/packages/testing/src/workflows/index.ts',
    '^@temporal-media/([^/]+)$': '<rootDir>/packages/$1/src/index.ts',
    '^@temporal-media/([^/]+)/internal/(.*)$': '<rootDir>/packages/$1/src/$2',
    // A property that fails prints the command that repeats it.
    '^fast-check$': '<rootDir>/test/support/fast-check.js',
    '^fast-check/itself$': require.resolve('fast-check'),
  },
  reporters: [
    'default',
    '<rootDir>/test/support/rules-reporter.js',
    '<rootDir>/test/support/summary-reporter.js',
  ],
  transformIgnorePatterns: ['/node_modules/', '/lib/'],
  // Real servers and real worker threads: a slow machine must not turn a pass into a failure.
  testTimeout: 120_000,
  // More than the two processors, because most files wait for timers of a server. With six a fifth of the processors idled;
  // with nine the first minute is so full that limits of seconds pass.
  maxWorkers: 6,
  testSequencer: '<rootDir>/test/support/long-first.js',
  // Tests that run at once wait for timers of a server: more of them cost no processor.
  maxConcurrency: 12,
};
