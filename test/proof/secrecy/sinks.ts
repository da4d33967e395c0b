import { join } from 'node:path';
import { type WorkflowExecutionInfo } from '@temporalio/client';
import { type CliRun } from '../../cli/support/run-cli';
import { type Canary, type Searched, searched } from '../../support/canary';
import { FILE_NAME, PROMPT } from './canaries';
import { filesOf } from './files-of';
import { descriptions, historyTexts, withoutErrorText } from './histories';
import { type SecretStack } from './secret-stack';

/** Where something may be found by whoever may read it. `marker` proves that it holds what it should. */
export interface Sink {
  readonly texts: readonly Searched[];
  readonly marker: string | RegExp;
  /** Canaries that belong there, with the reason in the name of the sink. */
  readonly own?: readonly Canary[];
}

/** What the run left in memory; the rest is read from the server and the disk. */
export interface Seen {
  readonly all: readonly WorkflowExecutionInfo[];
  readonly returned: readonly string[];
  readonly shown: readonly CliRun[];
  readonly during: readonly Searched[];
  readonly commandLines: readonly Searched[];
  readonly workers: readonly CliRun[];
  readonly diagnosed: readonly CliRun[];
  readonly answers: readonly Searched[];
  readonly devRan: {
    readonly run: CliRun;
    readonly files: readonly Searched[];
    readonly children: readonly Searched[];
  };
}

export interface Sinks {
  readonly sinks: ReadonlyMap<string, Sink>;
  /** Places that architecture: Stores lists for prompts. */
  readonly listed: ReadonlyMap<string, readonly Searched[]>;
  readonly events: number;
}

/** Everything that is written down anywhere, after the run. */
export async function collectSinks(stack: SecretStack, seen: Seen): Promise<Sinks> {
  const { server, dataDir, tempDir, foreign, proxy } = stack;
  const sinks = new Map<string, Sink>();
  const histories = await historyTexts(server.client, seen.all);
  const lines = (runs: readonly CliRun[], stream: 'stdout' | 'stderr') =>
    runs.map((run, index) => searched(`${stream} ${index}`, run[stream]));
  const add = (
    name: string,
    texts: readonly Searched[],
    marker: string | RegExp,
    own: readonly Canary[] = [],
  ) => void sinks.set(name, { texts, marker, own });

  add('event histories', histories.closed, 'generateVideo');
  add('inputs of histories', histories.inputs, 'sketch-lite', [PROMPT, FILE_NAME]);
  add('error texts of outcomes', histories.errorTexts, /./, [PROMPT]);
  add(
    'descriptions, heartbeats, memos, summaries',
    await descriptions(server.client, seen.all),
    'generateVideo',
  );
  add('descriptions and files during a download', seen.during, 'etag');
  add('answers of queries, details panels', seen.answers, 'Done: completed');
  add('log of the workers (TRACE), stderr', lines(seen.workers, 'stderr'), 'Ready: task queue');
  add(
    'stdout of the workers',
    [...lines(seen.workers, 'stdout'), searched('none', '(nothing)')],
    '(nothing)',
  );
  add('journal', await filesOf(join(dataDir, 'journal')), 'refused_for_now');
  add(
    'artifacts and side-cars',
    await filesOf(join(dataDir, 'artifacts')).then(withoutRefusedPages),
    '"task"',
  );
  add('refused pages in the store', await filesOf(join(dataDir, 'artifacts', 'rejected')), '.rejected', [
    // The service's own words; it never learns the name of a file, so only a test can make it say one.
    PROMPT,
    FILE_NAME,
  ]);
  add(
    'data directory',
    (await filesOf(dataDir)).filter(({ where }) => !where.startsWith('artifacts')),
    /./,
  );
  add('temporary files', [...(await filesOf(tempDir)), searched('folder', 'temp')], 'temp');
  add(
    'doctor, status and config',
    [...lines(seen.diagnosed, 'stdout'), ...lines(seen.diagnosed, 'stderr')],
    '"checks"',
  );
  add(
    'answers of paid commands',
    [...lines(seen.shown, 'stdout'), ...lines(seen.shown, 'stderr')].map(withoutOutcomeText),
    '"rejected"',
  );
  add(
    'what the caller gets',
    seen.returned.map((text, index) => withoutOutcomeText(searched(String(index), text))),
    'completed',
  );
  add(
    'command lines and environments of processes',
    [...seen.commandLines, ...seen.devRan.children],
    'worker',
  );
  add('logs of dev', seen.devRan.files, 'default@');
  add(
    'stdout and stderr of dev',
    lines([seen.devRan.run], 'stdout')
      .concat(lines([seen.devRan.run], 'stderr'))
      .map(withoutOutcomeText),
    'Ready:',
  );
  add(
    'what the media host of somebody else heard (its own signature left out)',
    foreign.heard.map((text) => searched('request', text)),
    'GET /video',
  );
  add(
    'what the proxy heard (its own password left out)',
    proxy.heads.map((head) => searched('CONNECT', head.replace(/proxy-authorization\n.*/i, ''))),
    'CONNECT',
  );
  const listed = new Map([
    ['inputs in histories', histories.inputs],
    ['error texts of outcomes', histories.errorTexts],
  ]);
  return { sinks, listed, events: histories.events };
}

/** Outcomes may repeat the service's words (architecture: Stores): as JSON, or as the line of an error for people. */
function withoutOutcomeText({ where, bytes }: Searched): Searched {
  const lines = bytes.toString('utf8').split('\n');
  const kept = lines.map((line) => (line.startsWith('error: ') ? 'error: …' : withoutErrorText(line).rest));
  return searched(where, kept.join('\n'));
}

const withoutRefusedPages = (files: readonly Searched[]): Searched[] =>
  files.filter(({ where }) => !where.startsWith('rejected'));
