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
    '<rootDir>/test/stores/',
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
  // Examples import the package by its name, as users do.
  moduleNameMapper: {
    // Loaded when they are wanted, by the names that they have in lib.
    '^\\.\\./(s3|postgres)/index\\.js$': '<rootDir>/src/$1/index.ts',
    '^temporal-media$': '<rootDir>/src/domain/index.ts',
    '^temporal-media/(workflows|activities|postgres|replay|s3|stores|testing|testing/workflows)$':
      '<rootDir>/src/$1/index.ts',
    '^temporal-media/(worker|client|plugin|nexus)$': '<rootDir>/src/$1.ts',
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
