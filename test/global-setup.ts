import path from 'node:path';
import { type Config } from 'jest';
import { startTemporalServer } from '../src/testing/temporal-server';
import { bringLibUpToDate } from './support/bring-lib-up-to-date';
import { SERVER_SLOT, type ServerSlot } from './support/server-slot';

const ROOT = path.resolve(__dirname, '..');
/** Test folders that neither talk to a Temporal server nor run what is compiled. */
const SOURCE_ONLY = ['domain', 'service', 'artifacts', 'journal', 'models', 'docs', 'rules'];
/** Test folders that talk to no Temporal server, or bring their own. */
const SERVERLESS = [...SOURCE_ONLY, 'replay', 'testing/sandbox', 'testing/temporal-server'];

/**
 * Brings `lib` up to date (what is published is what is run) and starts one Temporal server for the whole run, unless
 * TEST_NO_SERVER=1 or only folders that need none were asked for.
 */
async function globalSetup(config: Config & SelectedTests): Promise<void> {
  if (!onlyIn(SOURCE_ONLY, config)) await bringLibUpToDate();
  if (process.env['TEST_NO_SERVER'] === '1' || onlyIn(SERVERLESS, config)) return;
  const begun = performance.now();
  const server = await startTemporalServer({
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  (globalThis as unknown as ServerSlot)[SERVER_SLOT] = server;
  process.env['TEST_TEMPORAL_ADDRESS'] = server.address;
  process.env['TEST_TEMPORAL_NAMESPACE'] = server.namespace;
  const way =
    server.source.kind === 'address' ? server.source.foundBy : `started, CLI from ${server.source.foundBy}`;
  process.stderr.write(
    `Temporal server ${server.address} (${way}) in ${Math.round(performance.now() - begun)} ms\n`,
  );
}

/** What jest hands over beyond its public types: the patterns of the command line. */
interface SelectedTests {
  readonly nonFlagArgs?: readonly string[];
  readonly testPathPatterns?: { readonly patterns?: readonly string[] };
}

/** Whether every pattern of the command line plainly names one of the folders or something in it. */
function onlyIn(folders: readonly string[], config: SelectedTests): boolean {
  const patterns = config.testPathPatterns?.patterns ?? config.nonFlagArgs ?? [];
  return (
    patterns.length > 0 &&
    patterns.every((pattern) => {
      const relative = path.isAbsolute(pattern) ? path.relative(ROOT, pattern) : pattern.replace(/^\.\//, '');
      return folders.some((folder) => `${relative}/`.startsWith(`test/${folder}/`));
    })
  );
}

export = globalSetup;
