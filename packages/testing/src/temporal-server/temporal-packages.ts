import type * as Client from '@temporalio/client';
import type * as Testing from '@temporalio/testing';

/**
 * Packages that are loaded when a server is wanted: tests without one have no use for them, and one of them is optional. Not by
 * `import()`, which test runners that load this code as CommonJS, such as jest, refuse.
 */
export const clientPackage = (): typeof Client => require('@temporalio/client') as typeof Client;
export const testingPackage = (): typeof Testing => require('@temporalio/testing') as typeof Testing;
