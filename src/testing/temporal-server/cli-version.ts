/**
 * CLI tag that we build and cache: the newest that builds from a module proxy.
 * Later tags need a nested module that no proxy has.
 */
export const TEMPORAL_CLI_VERSION = 'v1.5.1';

/** Go package of the CLI, pinned to {@link TEMPORAL_CLI_VERSION}. */
export const TEMPORAL_CLI_PACKAGE = `github.com/temporalio/cli/cmd/temporal@${TEMPORAL_CLI_VERSION}`;

/** Oldest server inside a CLI that has update-with-start switched on. */
export const MINIMUM_SERVER_VERSION = '1.28.0';
