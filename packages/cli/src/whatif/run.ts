import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, extname } from 'node:path';
import { buildTimeline, type Timeline, timelineText } from '@temporal-media/replay';
import { counted } from '@temporal-media/replay/internal/timeline/values';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { WORKFLOW } from 'temporal-media/internal/domain/names';
import { loadTargets } from '../replay/load-targets';
import { type ReplayOptions } from '../replay/options';
import { type CommandContext } from '../shared/context';
import { CliError, secretsOf } from '../shared/errors';
import { onInterruption } from '../shared/interruption';
import { writeNamedFile } from '../shared/output-files';
import { columnsOf } from '../shared/report';
import { isLocalWorkflow, type LocalRequest, localRequest } from './local-request';
import { playScenario, type PlayedRun } from './play-scenario';
import { type Scenario, scenarioOf, type WhatIfReport } from './scenario';
import { outcomeType } from './scenario-part';
import { missingTransformer, testOf, type TestSubject } from './written-test';

/** Default factor by which waits are shortened. */
const DEFAULT_SPEED = 10;

/** `replay --whatif`: runs a history's request against the sandbox, with the faults that the history shows. */
export async function whatif(context: CommandContext, target: string, options: ReplayOptions): Promise<void> {
  const { report } = context;
  const original = await storyOf(context, target, options);
  const { workflowType } = original;
  if (!isLocalWorkflow(workflowType))
    throw new CliError(
      'bad_input',
      `--whatif replays a single video or image call, but ${workflowType} is neither.`,
      {
        hint: 'Pass a workflow of type generateVideo, generateImage or editImage. `replay ID --children` shows what happened in a campaign.',
      },
    );
  const scenario = scenarioOf(original, options.speed === undefined ? DEFAULT_SPEED : Number(options.speed));
  const request = localRequest(original, workflowType);
  if (options.saveTest !== undefined) {
    await refuseToSave(options.saveTest, original);
    const missing = await missingTransformer(options.saveTest);
    if (missing !== undefined) report.say(`${report.paint('warn', 'warning:')} ${missing}`);
  }
  const played = await playedHere(context, scenario, request);
  const local = buildTimeline(played.target);
  const savedTest = options.saveTest ?? null;
  if (savedTest !== null) await saveTest(savedTest, { original, scenario, request });
  const data = reportOf({ original, local, scenario, request, played, savedTest });
  if (!report.machine) for (const line of linesOf(context, data, options.utc === true)) report.result(line);
  if (data.outcome.same !== false) return report.reply({ ok: true, data });
  const message = `The history ended with ${data.outcome.original}, but the local run ended with ${data.outcome.local}.`;
  throw new CliError('whatif_differs', message, { data });
}

async function storyOf(context: CommandContext, target: string, options: ReplayOptions): Promise<Timeline> {
  const stories: Timeline[] = [];
  for await (const loaded of loadTargets(context, [target], options)) {
    if ('error' in loaded) throw loaded.error;
    stories.push(buildTimeline(loaded, { secrets: secretsOf(context.env) }));
  }
  const [story, other] = stories;
  if (story === undefined) throw new CliError('not_found', `${target} was not found.`);
  if (other !== undefined)
    throw new CliError('bad_input', `--whatif replays a single workflow, but ${target} contains several.`);
  return story;
}

/** Deletes everything that the run leaves behind, unless the run failed, because its logs may explain why. */
async function playedHere(
  { env, report }: CommandContext,
  scenario: Scenario,
  request: LocalRequest,
): Promise<PlayedRun> {
  const dataDir = await mkdtemp(join(tmpdir(), 'temporal-media-whatif-'));
  const say = (line: string): void => report.say(line);
  say('Running it against a local sandbox. Nothing is sent to another host, and your keys are not used.');
  const interruption = onInterruption();
  try {
    const played = await playScenario(scenario, request, {
      dataDir,
      env,
      say,
      interrupted: interruption.happened,
    });
    await rm(dataDir, { recursive: true, force: true });
    return played;
  } catch (error) {
    if (error instanceof CliError && error.reply.type === 'interrupted')
      await rm(dataDir, { recursive: true, force: true });
    else say(`Logs and data are kept in ${dataDir}.`);
    throw error;
  } finally {
    interruption.dispose();
  }
}

function reportOf(of: {
  readonly original: Timeline;
  readonly local: Timeline;
  readonly scenario: Scenario;
  readonly request: LocalRequest;
  readonly played: PlayedRun;
  readonly savedTest: string | null;
}): WhatIfReport {
  const { original, local, scenario, request, played, savedTest } = of;
  const outcome = { original: outcomeType(original), local: outcomeType(local) };
  return {
    v: 1,
    original,
    local,
    scenario,
    notPlayed: [...scenario.notPlayed, ...request.notPlayed],
    outcome: { ...outcome, same: outcome.original === null ? null : outcome.original === outcome.local },
    paid: played.paid,
    savedTest,
  };
}

function linesOf({ report }: CommandContext, data: WhatIfReport, utc: boolean): readonly string[] {
  const paint = report.paintResult;
  const layout = { paint, width: columnsOf(process.stdout), utc };
  const { outcome, notPlayed, paid, savedTest, original, local } = data;
  const verdict =
    outcome.same === null
      ? [`The history has no outcome to compare with. The local run ended with ${outcome.local}.`]
      : outcome.same
        ? [`${paint('good', 'same outcome')}  ${outcome.local}`]
        : [`${paint('bad', 'different outcome')}  ${outcome.original} in the history, ${outcome.local} here`];
  return [
    paint('note', 'The history'),
    '',
    ...timelineText(original, layout).split('\n'),
    '',
    paint('note', 'The same request against the sandbox'),
    '',
    ...timelineText(local, layout).split('\n'),
    '',
    ...notPlayed.map((what) => `${paint('warn', 'not played')}  ${what}`),
    ...verdict,
    `The sandbox received ${counted(paid.received, 'paid request')} and accepted ${paid.accepted}.`,
    ...(savedTest === null ? [] : [`Test: ${savedTest}`]),
  ];
}

const LANGUAGES = ['.ts', '.js'];

/** Checks, before anything runs, that a test can be written. @throws CliError if not */
async function refuseToSave(file: string, original: Timeline): Promise<void> {
  if (!LANGUAGES.includes(extname(file)))
    throw new CliError(
      'bad_input',
      `--save-test must end in .ts or .js, not ${extname(file) || 'without an extension'}.`,
    );
  if (outcomeType(original) === null)
    throw new CliError('bad_input', '--save-test: the history has no outcome yet for a test to expect.');
  if (original.workflowType === WORKFLOW.editImage)
    throw new CliError(
      'bad_input',
      '--save-test: an edit starts with image files, which a test file cannot contain.',
    );
  if ((await stat(file).catch(otherwise(undefined))) !== undefined)
    throw new CliError('cannot_write', `--save-test: ${file} already exists. Nothing was overwritten.`);
}

/** Writes the test for a history that {@link refuseToSave} has accepted. Never overwrites a file. */
async function saveTest(
  file: string,
  of: { readonly original: Timeline; readonly scenario: Scenario; readonly request: LocalRequest },
): Promise<void> {
  const language = extname(file) === '.ts' ? 'ts' : 'js';
  const text = testOf({ ...of, request: of.request as TestSubject['request'], language });
  await writeNamedFile('--save-test', file, text, { isNew: true });
}
