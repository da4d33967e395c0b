import path from 'node:path';
import { type Config } from 'jest';
import type * as Servers from '../packages/testing/src/temporal-server';
import { bringLibUpToDate } from './support/bring-lib-up-to-date';
import { allTestFiles, needOfPatterns } from './support/needs';
import { planLine, readyLine, SEARCH_LINES } from './support/server-cost';
import {
  HOSTS_SLOT,
  type HostsSlot,
  SERVER_SLOT,
  type ServerSlot,
  STORES_SLOT,
  type StoresSlot,
} from './support/server-slot';
import { startStoresOfRun } from './support/store-places';
import { startTestHosts } from './support/test-hosts';

const ROOT = path.resolve(__dirname, '..');

// Once `lib` is there: outside of the tests a companion finds the core by its name, and so the build of it.
// eslint-disable-next-line typescript/no-require-imports
const loadServers = () => require('../packages/testing/src/temporal-server') as typeof Servers;

/** Server 1.28 has these, but off by default: operators pause, reset and limit activities. Later servers always do. */
const SWITCHED_ON = { 'frontend.activityAPIsEnabled': 'true' };

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Brings what the selected tests need (test/support/needs.js) and says beforehand which way and what that costs: `lib`
 * brought up to date, because what is published is what is run, one process for sandboxes, a few for commands, and one Temporal server.
 * TEST_NO_SERVER=1 and TEST_NO_BUILD=1 leave either out.
 */
async function globalSetup(config: Config & SelectedTests): Promise<void> {
  const patterns = config.testPathPatterns?.patterns ?? config.nonFlagArgs ?? [];
  const need = needOfPatterns(patterns, await left(config.filter));
  const needsLib = need === 'lib' || need === 'server';
  if (needsLib && process.env['TEST_NO_BUILD'] !== '1') await bringLibUpToDate(say);
  if (needsLib) (globalThis as unknown as HostsSlot)[HOSTS_SLOT] = await startTestHosts();
  (globalThis as unknown as StoresSlot)[STORES_SLOT] = await startStoresOfRun(say);
  if (need !== 'server' || process.env['TEST_NO_SERVER'] === '1') return;
  const started = performance.now();
  for (const line of SEARCH_LINES) say(line);
  const { resolveTemporalServer, startTemporalServer } = loadServers();
  const source = await resolveTemporalServer({ onProgress: say });
  say(planLine(source));
  const server = await startTemporalServer({ source, onProgress: say, dynamicConfig: SWITCHED_ON });
  (globalThis as unknown as ServerSlot)[SERVER_SLOT] = server;
  process.env['TEST_TEMPORAL_ADDRESS'] = server.address;
  process.env['TEST_TEMPORAL_NAMESPACE'] = server.namespace;
  if (source.kind === 'executable') process.env['TEST_TEMPORAL_CLI'] = source.path;
  say(readyLine(source, server.address, performance.now() - started));
}

/** The test files that `--filter` leaves. */
async function left(filter: string | undefined): Promise<string[]> {
  const files = allTestFiles();
  if (filter === undefined) return files;
  const { default: filterOf } = (await import(filter)) as { readonly default: Filter };
  const { filtered } = filterOf(files.map((file) => path.join(ROOT, file)));
  return filtered.map((file) => path.relative(ROOT, file).replaceAll(path.sep, '/'));
}

type Filter = (files: readonly string[]) => { readonly filtered: readonly string[] };

/** What jest hands over beyond its public types: the patterns of the command line. */
interface SelectedTests {
  readonly filter?: string;
  readonly nonFlagArgs?: readonly string[];
  readonly testPathPatterns?: { readonly patterns?: readonly string[] };
}

export = globalSetup;
