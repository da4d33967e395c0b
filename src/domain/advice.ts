/**
 * What a person should do next about a paid call, a campaign or one of its rows. This is the only place that defines
 * it. `status`, `resume`, `replay`, the campaign commands, the report, docs/failures.md and docs/on-call.md take their
 * texts from here.
 *
 * A word in capitals (`ID`, `TASK`, `QUEUE` …) stands for a value, which {@link filled} inserts.
 */

/** The next step, for programs. */
export type Step =
  | 'nothing'
  | 'wait'
  | 'unpause'
  | 'start_worker'
  /** Fixes the cause that blocks the workflow. */
  | 'mend'
  /** Waits for a task again and fetches its file. */
  | 'resume'
  /** The same request under the same id. */
  | 'start_again'
  /** Decides about a send with an unknown outcome. */
  | 'decide'
  /** Does what the outcome says. */
  | 'see_outcome'
  /** Looks at the campaign that a batch or a row belongs to. */
  | 'see_campaign';

type Situation = readonly [step: Step, means: string, now: string];

const SAME = 'Do not start it under another id.';
const ADOPTS = 'what was bought is adopted, not bought again.';

/** Situations of calls that have no outcome, or with later events that matter more than their outcome. */
export const SITUATIONS = {
  paused: [
    'unpause',
    'An operator has paused the workflow in Temporal; it is open, and its id is in use.',
    `It is paused in Temporal: \`temporal workflow unpause --workflow-id ID\` resumes it. ${SAME}`,
  ],
  activity_paused: [
    'unpause',
    'An operator has paused one of its activities in Temporal.',
    `Its activity ACTIVITY is paused in Temporal: \`temporal activity unpause --workflow-id ID --activity-id NUMBER\` resumes it. ${SAME}`,
  ],
  pinned: [
    'mend',
    'No worker of its version polls; workers of other versions do not get it.',
    'It is pinned to the worker version VERSION, and no worker of it polls the task queue QUEUE: start one, or move the workflow to the current version: `temporal workflow update-options --workflow-id ID --versioning-override-behavior auto_upgrade`.',
  ],
  code_fails: [
    'mend',
    'A worker runs code that cannot continue from the history. The workflow task is retried indefinitely.',
    'Its workflow code fails: WHY. Deploy workers whose code can continue from its history (`temporal-media replay ID` shows where the code differs). The workflow then continues automatically.',
  ],
  store: [
    'mend',
    'The journal or the artifact store of its workers does not answer, or is not the one that the queue is bound to.',
    `Repair what its activity ACTIVITY needs: WHY. It is retried automatically. ${SAME}`,
  ],
  no_worker: [
    'start_worker',
    'No worker polls the queue of this workflow; a task at the service continues.',
    `Start a worker of the task queue QUEUE: no worker polls it. The workflow then continues automatically. ${SAME}`,
  ],
  creating: [
    'wait',
    'The create is sent, or its answer is awaited.',
    'Wait. Do not start this video under another id: the create may have been sent.',
  ],
  waiting_to_create: [
    'wait',
    'No send was accepted; the next one waits for the time that the service named, or for money, a key or a worker.',
    'Wait, or cancel: no send of this run was accepted, and the workflow continues automatically. Do not start this video under another id.',
  ],
  unconfirmed: [
    'decide',
    'It was sent once, its fate is unknown, and the workflow waits for a decision.',
    'Look into the task records of the service with the evidence, then decide (`temporal-media unconfirmed show KEY`): adopt its task, declare it lost, or resubmit it, which may cost twice. Do not start this video under another id.',
  ],
  watching: [
    'wait',
    'The service has the task; it is polled until the deadline.',
    'Wait, or stop waiting at any time: the task continues. `temporal-media resume TASK` continues; nothing is created again.',
  ],
  'watching/credentials': [
    'mend',
    'The service refuses the key of the worker that polls.',
    'Fix the key of the credential CREDENTIAL, or its rights, on the workers of account ACCOUNT: the service refuses it, and one poll per minute retries it. The task continues; nothing is created again.',
  ],
  'watching/account_not_configured': [
    'mend',
    'The worker that polls does not have the account of the task.',
    'Start a worker that has the account ACCOUNT, exactly this credential and base address: the worker that polls does not have it. The task continues; nothing is created again.',
  ],
  'watching/worker_unavailable': [
    'mend',
    'No worker ran the last poll.',
    'Check that workers run on the poll queue: no worker answered the last poll. The task continues; nothing is created again.',
  ],
  'watching/not_found': [
    'wait',
    'The service does not know the task, for now; a task that was found before is polled until the deadline.',
    'Check the task id and the account ACCOUNT: the service does not know the task for now. The wait ends automatically: after a minute if no poll ever found the task, otherwise at its deadline. This is not a reason to create the video again.',
  ],
  downloading: [
    'wait',
    'The video is finished, and its file is fetched.',
    'Wait: the video is finished, and the service keeps it for a while. If this is stopped, `temporal-media resume TASK` fetches it; nothing is created again.',
  ],
  image: [
    'wait',
    'The image call is sent, or waits to be sent.',
    'Wait. Do not make this call under another id: it may have been sent, and then it is paid.',
  ],
  open: ['wait', 'A running workflow that needs no action.', `Wait: it continues automatically. ${SAME}`],
  own_open: [
    'wait',
    'Your own workflow, with paid calls of this package.',
    'Wait: it continues automatically. `temporal-media status` of one of its calls shows that call.',
  ],
  own_ended: [
    'nothing',
    'Your own workflow, which has ended. If it is started again, it buys again: its calls have the keys of the run.',
    'It is your own workflow and has ended. `temporal-media status` of each of its paid calls shows what is safe.',
  ],
  campaign: [
    'see_campaign',
    'A campaign consists of rows.',
    '`temporal-media campaign status ID` shows its rows.',
  ],
  batch_open: [
    'wait',
    'A batch is a part of a campaign.',
    'Wait: it is a part of a campaign. `temporal-media campaign status ID` shows its rows.',
  ],
  batch_ended: [
    'see_campaign',
    'A part of a campaign that has ended, was terminated or reset: it sends nothing more.',
    'Nothing: a batch that has ended is counted by its campaign. `temporal-media campaign status ID` shows its rows, and what they need.',
  ],
  adopted: [
    'resume',
    'A person found the task at the service.',
    'WHO decided at TIME: it was accepted as a task. Run `temporal-media resume TASK`: it polls and downloads, and never creates.',
  ],
  declared_lost: [
    'nothing',
    'A person has closed the call.',
    'WHO decided at TIME: it is given up. Nothing is sent under this id any more; another purchase needs another id.',
  ],
  resubmitted: [
    'start_again',
    'A person has authorized one more send.',
    'WHO decided at TIME: it is sent once more. Start the same request again under the id KEY.',
  ],
  completed: [
    'nothing',
    'The result is verified and stored.',
    'It is done. The same id returns the same result; nothing is bought again.',
  ],
  result_unread: [
    'see_outcome',
    'A codec has encoded its result, or it is in external storage.',
    'It has ended, and its result cannot be read here: read it before anything else.',
  ],
  closed_with_task: [
    'resume',
    'The workflow was closed from outside. The task continues: the service has no cancel.',
    'Run `temporal-media resume TASK`: it polls and downloads, and never creates.',
  ],
  closed: [
    'start_again',
    'The workflow was closed from outside before it had a task, or without an outcome.',
    `Start the same request again under the id KEY: ${ADOPTS}`,
  ],
} as const satisfies { readonly [situation: string]: Situation };

export type SituationName = keyof typeof SITUATIONS;

/** The next step, and the text for it. */
export interface Advice {
  readonly step: Step;
  readonly text: string;
}

/** Returns the advice for a situation, with values inserted; see {@link filled}. */
export function situation(name: SituationName, values: AdviceValues = {}, word?: Word): Advice {
  const [step, , now] = SITUATIONS[name];
  return { step, text: filled(now, values, word) };
}

const BY_TASK = 'Resume it by its task id.';
const FETCHES = '`temporal-media campaign resume ID` fetches it; nothing is created again.';
const RETRY = '`temporal-media campaign retry ID`';
const TAKES = '`temporal-media campaign resume ID` takes the row again';
const CHANGE =
  'Change the row in the manifest and run the campaign again under the same id with `--rebuy-changed`.';
const BILL = 'Check the bill first: a failed job can still cost.';
const AGAIN = 'start again under the same id';
const OTHERS = 'Other calls of the account wait meanwhile and continue by themselves.';

/** By outcome type: for a single call and, if different, for a row, which continues with campaign commands. */
export const OUTCOME_ADVICE = {
  still_running: ['Resume it by its task id; nothing is created again.', FETCHES],
  'failed/moderation': [
    'Change the prompt or the references; check the bill, a failed job can still cost.',
    `${CHANGE} ${BILL}`,
  ],
  'failed/capacity': [
    'Try again later under a new id; check the bill first.',
    `${RETRY} buys a new attempt. ${BILL}`,
  ],
  'failed/invalid': ['Fix the parameter that the error names and use a new id.', `${CHANGE} ${BILL}`],
  'failed/quota': [
    'Top up or raise the quota, then use a new id.',
    `Top up or raise the quota, then ${RETRY}. ${BILL}`,
  ],
  'failed/unknown': [
    'Read the error before deciding about another attempt; it needs a new id.',
    `Read the error; ${RETRY} buys a new attempt. ${BILL}`,
  ],
  'content_unavailable/not_ready': ['Resume it by its task id later.', FETCHES],
  'content_unavailable/expired': [
    'Ask the service for the file of this task id; creating again costs again.',
  ],
  'content_unavailable/not_video': ['Look at the rejected bytes; resume by the task id later.', FETCHES],
  'content_unavailable/incomplete_file': [BY_TASK, FETCHES],
  'content_unavailable/auth': [
    'Fix the credentials of the worker, then resume by the task id.',
    `Fix the credentials of the worker; then ${FETCHES}`,
  ],
  'content_unavailable/blocked': [
    'Check where the service redirects to; allow that origin if you trust it (MEDIA_ALLOWED_MEDIA_ORIGINS), then resume.',
    `Check where the service redirects to; allow that origin if you trust it (MEDIA_ALLOWED_MEDIA_ORIGINS); then ${FETCHES}`,
  ],
  'content_unavailable/storage': [
    'Make room or fix the rights of the store, then resume by the task id.',
    `Make room or fix the rights of the store; then ${FETCHES}`,
  ],
  task_unknown: [
    'Check the id, the account and the path /v1/videos/{task_id}. It is not a failed video and not a reason to create another one.',
  ],
  unconfirmed: [
    'Look into the task records of the service with the evidence, then adopt its task, declare it lost or resubmit it (`temporal-media unconfirmed`). Nothing is sent again until then.',
    'Look into the task records of the service, then settle the row with `temporal-media campaign adopt` or `temporal-media campaign declare-lost`. Nothing is sent again until then.',
  ],
  results_lost: [
    'Fix what the message names (the store, or MEDIA_ALLOWED_MEDIA_ORIGINS of the worker), then start the same id again. If the outcome says `fetchable`, the missing results are fetched while their links work, and nothing is sent. Another id costs again.',
    'Fix what the message names (the store, or MEDIA_ALLOWED_MEDIA_ORIGINS of the worker). The row is paid; `temporal-media campaign retry ID --outcome results_lost` buys it once more.',
  ],
  cancelled: [
    'If a task id is named, resume it; otherwise `billing.state` says whether money may be owed.',
    'Run the campaign again under the same id: what was bought is fetched, never bought again.',
  ],
  skipped_budget: [
    'Raise the budget with `temporal-media campaign resume ID --budget AMOUNT`: only what is missing is bought.',
  ],
  changed: ['Run the campaign again with `--rebuy-changed` to buy the new text.'],
  'rejected/invalid_request': [
    'Correct the request as the message of the service says, and start it again under the same id; if no message says what is wrong, compare it with the documentation of the service for the model.',
    CHANGE,
  ],
  'rejected/moderation': [
    'Change the prompt or the references and start it again under the same id; check the bill, a service may charge for the validation.',
    CHANGE,
  ],
  'rejected/quota': [
    `Top up or raise the quota, then ${AGAIN}. ${OTHERS}`,
    `Top up or raise the quota, then ${RETRY}.`,
  ],
  'rejected/capacity': ['Try again later under the same id.', `${RETRY} tries it again later.`],
  'rejected/service_error': [
    'Try again under a new id when the service has recovered.',
    `${RETRY} tries it again when the service has recovered.`,
  ],
  'rejected/credentials': [
    `Fix MEDIA_API_KEY of the workers or the access rights, then ${AGAIN}. ${OTHERS}`,
    `Fix the key of the worker or its rights, then ${RETRY}.`,
  ],
  'rejected/account_not_configured': [
    `Start a worker with that credential and base address, or name an account that the workers have; then ${AGAIN}.`,
    `Start a worker with that account, then ${RETRY}.`,
  ],
  'rejected/creation_key_conflict': [
    'Use another id, or repeat the first request unchanged.',
    'Give the row back its first text, or another id, and run the campaign again under the same id.',
  ],
  'rejected/creation_key_required': ['Give a creationKey, for example the id of the row or order it serves.'],
  'rejected/not_sent': [
    `Check that the service and the worker are up (\`temporal-media doctor\`), then ${AGAIN}.`,
    `Check that the service and the workers are up, then ${RETRY}.`,
  ],
  'rejected/internal_error': [
    `Report it with the stack that the worker logged at ERROR. With a version that fixes the defect, ${AGAIN}.`,
    `Report it with the stack that the worker logged at ERROR. With a version that fixes the defect, ${TAKES}.`,
  ],
  'rejected/retry_later': [
    'Start again under the same id, not before the time it named.',
    `${RETRY} tries it again, not before the time that the service named.`,
  ],
  'rejected/unsafe_retry_policy': ['Set maximumAttempts to 1, or give the worker a journal.'],
  'rejected/unconfirmed_open': [
    'Settle the open one first (`temporal-media unconfirmed`), or pass `--again` to buy another one anyway.',
    `Settle the open one first (\`temporal-media unconfirmed\`), then ${RETRY}.`,
  ],
  'rejected/declared_lost': ['Use a new id to buy it.', `${RETRY} buys it again.`],
  'rejected/spend_limit': [
    `Wait for the next hour, day or month of the limit, raise \`spendLimit\` of the account, or give the model a price; then ${AGAIN}.`,
    `Wait for the next hour, day or month of the limit, raise \`spendLimit\` of the account, or give the model a price; then ${TAKES}.`,
  ],
  'rejected/price_changed': [
    'Run the campaign again under its id: it is planned, and confirmed, at the current price.',
  ],
} as const satisfies { readonly [type: string]: readonly [call: string, row?: string] };

/** Returns the advice for a campaign row; empty for an outcome that needs no action. */
export function rowAdvice(type: string): string {
  const advice: { readonly [type: string]: readonly [call: string, row?: string] } = OUTCOME_ADVICE;
  const [call = '', row = call] = advice[type] ?? [];
  return row;
}

/** By a campaign's phase or outcome. */
export const CAMPAIGN_ADVICE = {
  running:
    'Wait: it continues automatically. The same manifest under this id attaches and orders nothing new.',
  paused:
    'It is paused: `temporal-media campaign resume ID` continues it. Running tasks are still collected.',
  rows_wait:
    'Wait, or fix what the note names: rows wait for it and are retried automatically. Running tasks are collected meanwhile.',
  closed: `It was closed from outside: \`temporal-media campaign resume ID\` continues it; ${ADOPTS}`,
  done: 'It is done. The same manifest under this id buys nothing again.',
  still_running: '`temporal-media campaign resume ID` resumes the remaining rows.',
  campaign_unconfirmed:
    'Settle the rows that were set aside one by one (`temporal-media campaign adopt` or `declare-lost`), then `temporal-media campaign resume ID`.',
  campaign_failed_rows: `\`temporal-media campaign report ID\` shows each with its reason; ${RETRY} buys a new attempt.`,
  campaign_budget_spent: 'Continue with `temporal-media campaign resume ID --budget AMOUNT`.',
  campaign_cancelled: 'Continue with `temporal-media campaign resume ID`.',
  campaign_changed_rows: 'Pass --rebuy-changed to buy the new text, or give the changed rows new ids.',
  no_header:
    'Correct the header: `temporal-media campaign init` writes one to begin with. A file with one prompt in each line is given with --prompts.',
  no_valid_rows: 'Correct the lines that are named; --dry-run -o jsonl lists all of them.',
  no_rows:
    'One row below the header, or one JSON line, for each video, image or edit: `temporal-media campaign init` writes a manifest to begin with.',
  manifest_unreadable:
    'A manifest is CSV with a header, or JSON lines; `temporal-media campaign init` writes one to begin with. A file with one prompt in each line is given with --prompts.',
  manifest_invalid:
    'Correct the lines that are named, or leave them out with --on-invalid skip; --dry-run lists all of them.',
  budget_currency:
    'Give the budget in the currency of the prices (CURRENCY); `temporal-media models ls` shows them.',
  mixed_currencies:
    'Split the manifest: a campaign has one currency. `temporal-media models ls` shows the prices.',
  unpriced_models:
    'Add price rules to the model configuration (MEDIA_MODELS), or leave the budget out; `temporal-media models ls` shows the prices.',
  budget_refused:
    'Add price rules to the model configuration (MEDIA_MODELS), or split the manifest; `temporal-media models ls` shows the prices.',
} as const;

/** Values for the words in capitals. A word without a value stays as it is. */
export interface AdviceValues {
  readonly [name: string]: string | null | undefined;
}

/**
 * Returns advice with values inserted. In commands, values are quoted for the shell, and an id that looks like an
 * option is placed after `--`.
 * @param word quotes a word for the current shell. @default inserts a value that needs no quotes; any other keeps its
 * placeholder
 */
export function filled(text: string, values: AdviceValues, word: Word = plainWord): string {
  const put = (all: string, option: string, name: string, isCode: boolean): string => {
    const value = values[name];
    if (value == null) return all;
    if (!isCode) return `${option}${value}`;
    const quoted = word(value);
    if (quoted === undefined) return all;
    return `${option === '' && value.startsWith('-') ? '-- ' : option}${quoted}`;
  };
  return text
    .split('`')
    .map((part, index) =>
      part.replace(/(--[a-z-]+ )?\b([A-Z]{2,})\b/g, (all: string, option: string | undefined, name: string) =>
        put(all, option ?? '', name, index % 2 === 1),
      ),
    )
    .join('`');
}

/** Quotes a word for a shell; undefined if it is not inserted. */
export type Word = (text: string) => string | undefined;

const plainWord: Word = (text) => (/^\w[\w.:@/-]{0,127}$/.test(text) ? text : undefined);
