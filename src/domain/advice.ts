import { type AdviceValues, filled, type Word } from './terminal-text';

/**
 * The advice on what to do next about a paid call, a campaign or one of its rows. The commands, the report,
 * docs/failures.md and docs/on-call.md all take their wording from this file. Words in capitals (`ID`, `TASK`, `QUEUE` …)
 * are placeholders, which `filled` replaces with values.
 */

/** The next step, in machine-readable form. */
export type Step =
  | 'nothing'
  | 'wait'
  | 'unpause'
  | 'start_worker'
  /** Fix whatever blocks the workflow. */
  | 'mend'
  /** Wait for the task again and download its file. */
  | 'resume'
  /** Start the same request again under the same id. */
  | 'start_again'
  /** Do not start it: its creation key is unknown, or no start can pass it. */
  | 'no_start'
  /** Settle an unconfirmed send. */
  | 'decide'
  /** Follow the outcome's advice. */
  | 'see_outcome'
  /** Look at the campaign that the batch or row belongs to. */
  | 'see_campaign';

type Situation = readonly [step: Step, means: string, now: string];

const SAME = 'Do not start it under another id.';
const KEYLESS = 'A reset can buy activities again that were called without a creation key.';
const ADOPTS = 'it adopts earlier purchases and does not buy them again.';

/** Situations of calls that have no outcome yet, or whose outcome a later event has superseded. */
export const SITUATIONS = {
  paused: [
    'unpause',
    'An operator paused the workflow in Temporal. It is still open, and its id is still in use.',
    `It is paused in Temporal. Resume it with \`temporal workflow unpause --workflow-id ID\`. ${SAME}`,
  ],
  activity_paused: [
    'unpause',
    'An operator paused one of its activities in Temporal.',
    `Its activity ACTIVITY is paused in Temporal: a running attempt finishes, but no other one starts. Resume it with \`temporal activity unpause --workflow-id ID --activity-id NUMBER\`. ${SAME}`,
  ],
  standalone_paused: [
    'unpause',
    'An operator paused the activity, which runs without a workflow, in Temporal. Its id is still in use.',
    `It is paused in Temporal: a running attempt finishes, but no other one starts. Resume it with \`temporal activity unpause --activity-id ID\`. ${SAME}`,
  ],
  pause_unreadable: [
    'mend',
    'It was paused in Temporal before its next workflow task had started. The server recorded this in a way that the SDK of the workers cannot replay.',
    `Since a pause in Temporal, no worker can replay its history. Reset it to the event before the pause: \`temporal workflow reset --workflow-id ID --event-id NUMBER --reason pause\`. The new run finds what was bought and continues. ${KEYLESS}`,
  ],
  pinned: [
    'mend',
    'It is pinned to a worker version that no running worker has. Workers of other versions do not receive it.',
    'It is pinned to worker version VERSION, but no worker of that version polls task queue QUEUE. Start one, or move the workflow and any open batches to the current version: `temporal workflow update-options --workflow-id ID --versioning-override-behavior auto_upgrade`.',
  ],
  code_fails: [
    'mend',
    'The workflow code on the workers fails. Temporal retries the workflow task indefinitely.',
    'Its workflow code fails: WHY. Deploy workers whose code can replay its history (`temporal-media replay ID` shows where the code differs). The workflow then continues automatically.',
  ],
  store: [
    'mend',
    'Its workers cannot reach their journal or artifact store, or they use a journal that the queue is not bound to.',
    `Its activity ACTIVITY keeps failing: WHY. Fix the cause. The activity is retried automatically. ${SAME}`,
  ],
  no_worker: [
    'start_worker',
    "No worker polls the call's task queue. Its video task, if any, keeps running at the service.",
    `Start a worker on task queue QUEUE: none is polling it. The call then continues automatically. ${SAME}`,
  ],
  creating: [
    'wait',
    'The create request is being sent, or has not been answered yet.',
    'Wait. Do not start this video under another id: the create request may already have been sent.',
  ],
  waiting_to_create: [
    'wait',
    "No create request has been accepted. The next attempt is waiting for the service's retry time, or for funds, a valid key or a worker.",
    'Wait or cancel: the service has not accepted any request from this run, and the workflow continues automatically. Do not start this video under another id.',
  ],
  unconfirmed: [
    'decide',
    'The create request was sent once, its outcome is unknown, and the workflow is waiting for a decision.',
    "Check the service's task records against the evidence (`temporal-media unconfirmed show KEY`), then decide: adopt its task, declare it lost, or resubmit it and risk paying twice. Do not start this video under another id.",
  ],
  watching: [
    'wait',
    'The service is working on the task, which is polled until the deadline.',
    'Wait, or stop waiting at any time: the task keeps running. `temporal-media resume TASK` resumes the wait without creating anything.',
  ],
  'watching/credentials': [
    'mend',
    "The service rejects the polling worker's API key.",
    'The service rejects the key of credential CREDENTIAL. Fix the key or its permissions on the workers of account ACCOUNT. Polling retries once per minute. The task keeps running, and nothing is created again.',
  ],
  'watching/account_not_configured': [
    'mend',
    "The polling worker does not have the task's account.",
    'Start a worker that has account ACCOUNT, with exactly this credential and base address. The current polling worker does not have it. The task keeps running, and nothing is created again.',
  ],
  'watching/worker_unavailable': [
    'mend',
    'No worker ran the last poll.',
    'Check that workers are running on the poll queue: none of them ran the last poll. The task keeps running, and nothing is created again.',
  ],
  'watching/not_found': [
    'wait',
    'The service reports that the task does not exist. If an earlier poll found it, polling continues until the deadline.',
    'Check the task id and account ACCOUNT: the service reports that the task does not exist. The wait ends automatically, after one minute if no poll has ever found the task, or else at its deadline. Do not create the video again because of this.',
  ],
  downloading: [
    'wait',
    'The video is finished, and its file is being downloaded.',
    'Wait: the video is finished, and the service keeps it for a while. If the download is interrupted, `temporal-media resume TASK` fetches the file without creating anything.',
  ],
  image: [
    'wait',
    'The image call is in progress or waiting to be sent.',
    'Wait. Do not make this call under another id: if it has already been sent, you would pay twice.',
  ],
  open: ['wait', 'A running workflow that needs no action.', `Wait: it continues automatically. ${SAME}`],
  own_open: [
    'wait',
    'One of your own workflows, which makes paid calls through this package.',
    'Wait: it continues automatically. To check one of its paid calls, run `temporal-media status` on that call.',
  ],
  own_ended: [
    'nothing',
    'One of your own workflows, which has ended. Starting it again buys again, because its creation keys belong to the run.',
    'This is one of your own workflows, and it has ended. Run `temporal-media status` on each of its paid calls to see what is safe.',
  ],
  campaign: [
    'see_campaign',
    'A campaign. What to do depends on its rows.',
    '`temporal-media campaign status ID` shows its rows.',
  ],
  batch_open: [
    'wait',
    'A running batch, which is part of a campaign.',
    "Wait: it is part of a campaign. `temporal-media campaign status ID` shows the campaign's rows.",
  ],
  batch_ended: [
    'see_campaign',
    'A batch that has ended, or was terminated or reset. It sends nothing more.',
    "Nothing to do for the batch itself: its campaign accounts for it. `temporal-media campaign status ID` shows the campaign's rows and what they need.",
  ],
  adopted: [
    'resume',
    'A person found the task at the service and adopted it.',
    'WHO decided at TIME that the service had accepted it as a task. Run `temporal-media resume TASK`, which polls and downloads but never creates.',
  ],
  declared_lost: [
    'nothing',
    'A person declared the call lost.',
    'WHO declared it lost at TIME. Nothing more is sent under this id. To buy it again, use another id.',
  ],
  resubmitted: [
    'start_again',
    'A person authorized one more send.',
    'WHO authorized one more send at TIME. Start the same request again with creation key KEY (`--id KEY`).',
  ],
  resubmitted_derived: [
    'no_start',
    'A person authorized one more send, but only the run that derived the creation key can use it.',
    `WHO authorized one more send at TIME. To send it, reset run RUN of workflow OWNER to an event before the call. No other start can use creation key KEY. ${KEYLESS}`,
  ],
  completed: [
    'nothing',
    'The result is verified and stored.',
    'It is done. Starting the same request again with creation key KEY (`--id KEY`) returns the same result and buys nothing.',
  ],
  completed_once: [
    'nothing',
    'The result is verified and stored. Its creation key is unknown here, or was derived.',
    'It is done. Do not start it again: its creation key is unknown here or was derived, so another start buys again.',
  ],
  result_unread: [
    'see_outcome',
    'It has ended, but its result is encoded by a codec or kept in external storage.',
    'It has ended, but its result cannot be read here. Read the result before you do anything else.',
  ],
  closed_with_task: [
    'resume',
    'The workflow ended without an outcome, for example because it was terminated. Its task keeps running, because the service cannot cancel tasks.',
    'Run `temporal-media resume TASK`, which polls and downloads but never creates.',
  ],
  closed: [
    'start_again',
    'The workflow ended without a task or an outcome, for example because it was terminated.',
    `Start the same request again with creation key KEY (\`--id KEY\`): ${ADOPTS}`,
  ],
  closed_unknown: [
    'no_start',
    'It ended without a task or an outcome, and its creation key cannot be read here. The key may differ from its id.',
    'Find its creation key first: it is `creationKey` in its input. A start with that key adopts earlier purchases, but one with another key buys again.',
  ],
  closed_derived: [
    'no_start',
    'It ended without a task or an outcome. A workflow derived its creation key, and only that run of the workflow can use it.',
    `Do not start it yourself, because another key buys again. Reset run RUN of workflow OWNER to an event before the call: it then adopts what was bought under KEY. ${KEYLESS} \`temporal-media unconfirmed show KEY\` shows whether a send waits for a decision, and \`temporal-media orphans\` lists tasks that no workflow fetches.`,
  ],
  closed_activity: [
    'no_start',
    'It ended without an outcome. Its creation key was derived from the activity, so nothing can use it again.',
    'Do not start it again before you know whether it was bought: another start buys again. `temporal-media unconfirmed show KEY` shows whether its send waits for a decision.',
  ],
} as const satisfies { readonly [situation: string]: Situation };

export type SituationName = keyof typeof SITUATIONS;

/** What to add to advice that speaks of the same id, if the id is not the creation key. */
export const KEY_NOTES = {
  given: 'Use its creation key KEY as the id (`--id KEY`).',
  derived: 'To use its creation key again, reset run RUN of workflow OWNER to an event before the call.',
  unknown: 'Its creation key is unknown here or cannot be used again, so a new start can buy again.',
} as const;

/** The next step and its text. */
export interface Advice {
  readonly step: Step;
  readonly text: string;
}

/** Returns the advice for a situation, with values inserted; see {@link filled}. */
export function situation(name: SituationName, values: AdviceValues = {}, word?: Word): Advice {
  const [step, , now] = SITUATIONS[name];
  return { step, text: filled(now, values, word) };
}

const FETCHES = '`temporal-media campaign resume ID` fetches it without creating anything.';
const RETRY = '`temporal-media campaign retry ID`';
const TAKES = 'run `temporal-media campaign resume ID` to process the row again';
const CHANGE =
  'Change the row in the manifest and run the campaign again under the same id with `--rebuy-changed`.';
const BILL = 'Check the bill first: you may have been charged for the failed task.';
const AGAIN = 'start again under the same id';
const OTHERS = 'Meanwhile, other calls for this account wait; they continue automatically.';

/** Advice by outcome type: for a single call and, if it differs, for a campaign row. */
export const OUTCOME_ADVICE = {
  still_running: ['Resume it by its task id. This creates nothing.', FETCHES],
  'failed/moderation': [
    'Change the prompt or the references. Check the bill: you may have been charged for the failed task.',
    `${CHANGE} ${BILL}`,
  ],
  'failed/capacity': [
    'Check the bill first, then try again later under a new id.',
    `${RETRY} buys a new attempt. ${BILL}`,
  ],
  'failed/invalid': ['Fix the parameter named in the error and use a new id.', `${CHANGE} ${BILL}`],
  'failed/quota': [
    'Top up the account or raise its quota, then use a new id.',
    `Top up the account or raise its quota, then run ${RETRY}. ${BILL}`,
  ],
  'failed/unknown': [
    'Read the error before you decide on another attempt, which needs a new id.',
    `Read the error. ${RETRY} buys a new attempt. ${BILL}`,
  ],
  'content_unavailable/not_ready': ['Resume it by its task id later.', FETCHES],
  'content_unavailable/expired': [
    "Ask the service's support for this task's file. Creating the video again costs again.",
  ],
  'content_unavailable/not_video': ['Inspect the rejected file, and resume by the task id later.', FETCHES],
  'content_unavailable/incomplete_file': ['Resume it by its task id.', FETCHES],
  'content_unavailable/auth': [
    "Fix the worker's credentials, then resume by the task id.",
    `Fix the worker's credentials. Then ${FETCHES}`,
  ],
  'content_unavailable/blocked': [
    'Check where the service redirects to, and allow that origin if you trust it (MEDIA_ALLOWED_MEDIA_ORIGINS). Then resume by the task id.',
    `Check where the service redirects to, and allow that origin if you trust it (MEDIA_ALLOWED_MEDIA_ORIGINS). Then ${FETCHES}`,
  ],
  'content_unavailable/storage': [
    'Make room in the artifact store or fix its permissions, then resume by the task id.',
    `Make room in the artifact store or fix its permissions. Then ${FETCHES}`,
  ],
  task_unknown: [
    'Check the task id, the account and the path /v1/videos/{task_id}. The video has not necessarily failed, so do not create another one because of this.',
  ],
  unconfirmed: [
    "Check the service's task records against the evidence, then adopt its task, declare it lost or resubmit it (`temporal-media unconfirmed`). Nothing is sent again until then.",
    "Check the service's task records, then settle the row with `temporal-media campaign adopt` or `temporal-media campaign declare-lost`. Nothing is sent again until then.",
  ],
  results_lost: [
    "Fix what the message names (the store, or the worker's MEDIA_ALLOWED_MEDIA_ORIGINS), then start the same id again. If the outcome says `fetchable`, the missing results are fetched while their links work, and nothing is sent. Using another id costs again.",
    "Fix what the message names (the store, or the worker's MEDIA_ALLOWED_MEDIA_ORIGINS). The row has been paid for. `temporal-media campaign retry ID --outcome results_lost` buys it a second time.",
  ],
  cancelled: [
    'If the outcome names a task id, resume it. If not, `billing.state` says whether money may be owed.',
    'Run the campaign again under the same id: it fetches earlier purchases and does not buy them again.',
  ],
  skipped_budget: [
    'Raise the budget with `temporal-media campaign resume ID --budget AMOUNT`, which buys only the missing rows.',
  ],
  changed: ['Run the campaign again with `--rebuy-changed` to buy the new text.'],
  'rejected/invalid_request': [
    "Fix the request as the service's message says, then start it again under the same id. If the message does not say what is wrong, compare the request with the service's documentation of the model.",
    CHANGE,
  ],
  'rejected/moderation': [
    'Change the prompt or the references, then start it again under the same id. Check the bill: some services charge for validation.',
    CHANGE,
  ],
  'rejected/quota': [
    `Top up the account or raise its quota, then ${AGAIN}. ${OTHERS}`,
    `Top up the account or raise its quota, then run ${RETRY}.`,
  ],
  'rejected/capacity': ['Try again later under the same id.', `Run ${RETRY} later.`],
  'rejected/service_error': [
    'Try again under a new id when the service has recovered.',
    `Run ${RETRY} when the service has recovered.`,
  ],
  'rejected/credentials': [
    `Fix the workers' MEDIA_API_KEY or its permissions, then ${AGAIN}. ${OTHERS}`,
    `Fix the worker's API key or its permissions, then run ${RETRY}.`,
  ],
  'rejected/account_not_configured': [
    `Start a worker with that credential and base address, or name an account that the workers have. Then ${AGAIN}.`,
    `Start a worker with that account, then run ${RETRY}.`,
  ],
  'rejected/creation_key_conflict': [
    'Use another id, or repeat the first request unchanged.',
    "Restore the row's original text or give the row another id, then run the campaign again under the same id.",
  ],
  'rejected/creation_key_required': ['Pass a creationKey, such as the id of the row or order.'],
  'rejected/not_sent': [
    `Check that the service and the worker are up (\`temporal-media doctor\`), then ${AGAIN}.`,
    `Check that the service and the workers are up, then run ${RETRY}.`,
  ],
  'rejected/internal_error': [
    `Report the bug with the stack trace that the worker logged at ERROR. After you upgrade to a version that fixes it, ${AGAIN}.`,
    `Report the bug with the stack trace that the worker logged at ERROR. After you upgrade to a version that fixes it, ${TAKES}.`,
  ],
  'rejected/retry_later': [
    'Start again under the same id, but not before the time that the service gave.',
    `Run ${RETRY}, but not before the time that the service gave.`,
  ],
  'rejected/unsafe_retry_policy': ['Set maximumAttempts to 1, or give the worker a journal.'],
  'rejected/unconfirmed_open': [
    'Settle the open call first (`temporal-media unconfirmed`), or pass `--again` to buy another one anyway.',
    `Settle the open call first (\`temporal-media unconfirmed\`), then run ${RETRY}.`,
  ],
  'rejected/declared_lost': ['Use a new id to buy it.', `${RETRY} buys it again.`],
  'rejected/spend_limit': [
    `Wait until the limit's hour, day or month has ended, raise the limit (\`temporal-media money allow\` does so for a time), or give the model a price. Then ${AGAIN}.`,
    `Wait until the limit's hour, day or month has ended, raise the limit (\`temporal-media money allow\` does so for a time), or give the model a price. Then ${TAKES}.`,
  ],
  'rejected/price_changed': ['Run the campaign again under its id, and confirm the current price.'],
} as const satisfies { readonly [type: string]: readonly [call: string, row?: string] };

/** Returns the advice for a campaign row, or an empty string if the outcome needs no action. */
export function rowAdvice(type: string): string {
  const advice: { readonly [type: string]: readonly [call: string, row?: string] } = OUTCOME_ADVICE;
  const [call = '', row = call] = advice[type] ?? [];
  return row;
}

/** Advice by a campaign's phase or outcome. */
export const CAMPAIGN_ADVICE = {
  running:
    'Wait: it continues automatically. Running the same manifest under this id attaches to it and buys nothing extra.',
  paused:
    'It is paused. Continue it with `temporal-media campaign resume ID`. Tasks in progress are still polled and downloaded.',
  rows_wait:
    'Wait, or fix the problem in the note: some rows are waiting for it and will be retried automatically. Meanwhile, tasks in progress are still polled and downloaded.',
  closed: `It ended without a result, for example because it was terminated. Continue it with \`temporal-media campaign resume ID\`: ${ADOPTS}`,
  done: 'It is done. Running the same manifest under this id again buys nothing.',
  still_running: '`temporal-media campaign resume ID` resumes the remaining rows.',
  campaign_unconfirmed:
    'Settle the unconfirmed rows one by one (`temporal-media campaign adopt` or `declare-lost`), then run `temporal-media campaign resume ID`.',
  campaign_failed_rows: `\`temporal-media campaign report ID\` shows why each row failed. ${RETRY} buys new attempts.`,
  campaign_budget_spent: 'Continue with `temporal-media campaign resume ID --budget AMOUNT`.',
  campaign_cancelled: 'Continue with `temporal-media campaign resume ID`.',
  campaign_changed_rows: 'Pass --rebuy-changed to buy the new text, or give the changed rows new ids.',
  no_header:
    'Fix the header. `temporal-media campaign init` writes a manifest to start from. To pass a file with one prompt per line, use --prompts.',
  no_valid_rows: 'Fix the listed lines. --dry-run -o jsonl lists all invalid lines.',
  no_rows:
    'Add one row below the header, or one JSON line, for each video, image or edit. `temporal-media campaign init` writes a manifest to start from.',
  manifest_unreadable:
    'A manifest is a CSV file with a header, or JSON lines. `temporal-media campaign init` writes one to start from. To pass a file with one prompt per line, use --prompts.',
  manifest_invalid:
    'Fix the listed lines, or skip them with --on-invalid skip. --dry-run lists all invalid lines.',
  budget_currency:
    'Specify the budget in the currency of the prices (CURRENCY). `temporal-media models ls` shows the prices.',
  mixed_currencies:
    'Split the manifest: a campaign has one currency. `temporal-media models ls` shows the prices.',
  unpriced_models:
    'Add price rules to the model configuration (MEDIA_MODELS), or omit the budget. `temporal-media models ls` shows the prices.',
  budget_refused:
    'Add price rules to the model configuration (MEDIA_MODELS), or split the manifest. `temporal-media models ls` shows the prices.',
} as const;
