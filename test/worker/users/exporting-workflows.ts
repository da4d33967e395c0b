/** As they were before a plugin: with those of the package exported again, and helpers named like some of its helpers. */
export * from '../../../src/workflows';
export * from './workflows';

export const pauseUpdate = 'not a workflow';
