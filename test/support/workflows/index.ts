/** Workflows of tests, in one bundle: to make one takes seconds. Those that change limits of the package have their own. */
export * from './buyers';
export * from './campaign-parents';
export * from './joining-watches';
export * from './late-watch';
export * from './own-creates';
export * from './progress-hooks';
export * from './untyped-buyers';
