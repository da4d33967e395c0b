import { CAMPAIGN_ADVICE, SITUATIONS } from 'temporal-media/internal/domain/advice';
import { FAILURE_TABLE } from 'temporal-media/internal/domain/failure-table';

/** Exit codes of every command; scripts rely on them. Codes from 64 up follow sysexits where it defines one. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  moderation: 3,
  capacity: 4,
  failed: 5,
  spendNotConfirmed: 6,
  unconfirmedOpen: 7,
  badInput: 65,
  unreachable: 69,
  cannotWrite: 73,
  stillRunning: 75,
  noVideo: 76,
  credentials: 77,
  configuration: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What each code means, as `--help` and docs/errors.md show it. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.done, 'done'],
  [EXIT.unexpected, 'unexpected error'],
  [EXIT.usage, 'wrong usage'],
  [EXIT.moderation, 'refused by moderation'],
  [EXIT.capacity, 'no capacity, or refused temporarily'],
  [EXIT.failed, 'finished with failures: failed, cancelled, unconfirmed, lost or unknown'],
  [EXIT.spendNotConfirmed, 'spend not confirmed; nothing was sent'],
  [EXIT.unconfirmedOpen, 'the same request is unconfirmed under another id; nothing was sent'],
  [EXIT.badInput, 'bad input; nothing was sent'],
  [EXIT.unreachable, 'Temporal server, worker or service unreachable'],
  [EXIT.cannotWrite, 'the result cannot be written'],
  [EXIT.stillRunning, 'still running; resume it'],
  [EXIT.noVideo, 'completed, but the file is not a video or is not available'],
  [EXIT.credentials, 'credentials refused: those of the worker, or for the Temporal server'],
  [EXIT.configuration, 'wrong configuration'],
  [EXIT.interrupted, 'interrupted; the work continues'],
];

/** Errors of `campaign`: part of the registry of the command line. */
const CAMPAIGN_ERRORS = {
  campaign_unconfirmed: [
    EXIT.failed,
    'Rows of the campaign wait for a decision: whether they were bought is unknown. They are not sent again.',
    CAMPAIGN_ADVICE.campaign_unconfirmed,
  ],
  campaign_failed_rows: [
    EXIT.failed,
    'The campaign has ended, and some of its rows failed.',
    CAMPAIGN_ADVICE.campaign_failed_rows,
  ],
  campaign_budget_spent: [
    EXIT.failed,
    'The campaign has ended. Some rows were not bought because its budget is spent.',
    CAMPAIGN_ADVICE.campaign_budget_spent,
  ],
  campaign_cancelled: [
    EXIT.failed,
    'The campaign was canceled. No further rows are bought; rows already bought are collected.',
    CAMPAIGN_ADVICE.campaign_cancelled,
  ],
  campaign_changed_rows: [
    EXIT.failed,
    'The text of bought rows has changed. They were not bought again.',
    CAMPAIGN_ADVICE.campaign_changed_rows,
  ],
  campaign_conflict: [
    EXIT.badInput,
    'The id belongs to a running campaign with another manifest, or to another workflow. Nothing was started.',
    'Use another --id, or wait until it has ended. The same id then buys only what is missing.',
  ],
  campaign_ended: [
    EXIT.badInput,
    'The campaign has ended and accepts no more orders.',
    '`temporal-media campaign resume ID` continues with the remaining rows. `temporal-media campaign retry ID` buys new attempts of the failed rows.',
  ],
  campaign_order_refused: [
    EXIT.badInput,
    'The campaign did not apply the order. Nothing has changed.',
    '`temporal-media campaign status ID` shows its state.',
  ],
  manifest_unreadable: [
    EXIT.badInput,
    'The manifest cannot be read. Nothing was sent.',
    CAMPAIGN_ADVICE.manifest_unreadable,
  ],
  manifest_invalid: [
    EXIT.badInput,
    'The manifest has invalid rows, or no rows. Nothing was sent.',
    CAMPAIGN_ADVICE.manifest_invalid,
  ],
  budget_refused: [
    EXIT.badInput,
    'The budget could not be kept: a model has no price, or prices are in several currencies. Nothing was sent.',
    CAMPAIGN_ADVICE.budget_refused,
  ],
} as const satisfies { readonly [type: string]: ErrorRow };

/** One type of error: `error.type` of the JSON object. */
interface ErrorType {
  readonly type: string;
  readonly exitCode: ExitCode;
  /** One sentence: what happened. */
  readonly meaning: string;
  /** What to do next, unless the command gives a more specific hint. */
  readonly hint: string;
}

type ErrorRow = readonly [exitCode: ExitCode, meaning: string, hint: string];

const MAKE_ROOM = 'Make room in MEDIA_DATA_DIR or MEDIA_ARTIFACTS, or correct the rights.';
const SAFE_IN_STORE = 'The result is safe in the artifact store: resume, or repeat the same id.';

/** Errors of the command line itself; outcomes of requests are in the failure table of the domain. */
export const COMMAND_ERRORS = {
  unexpected: [EXIT.unexpected, 'An unexpected error occurred.', 'TEMPORAL_MEDIA_DEBUG=1 shows the stack.'],
  child_failed: [
    EXIT.unexpected,
    'A child process of the command did not become ready.',
    'Its log is in the directory `logs` of the data directory.',
  ],
  usage: [
    EXIT.usage,
    'A command or an option is unknown or missing, or a value is not one of its choices; any other invalid value is `rejected/invalid_request` or `bad_input`.',
    '`temporal-media --help` lists the commands, `temporal-media COMMAND --help` the options.',
  ],
  demo_failed: [
    EXIT.failed,
    'Some results of the demo differ from what was expected.',
    'The logs of the workers are in the directory `logs` of the data directory.',
  ],
  workflow_ended: [
    EXIT.failed,
    'The workflow was closed from outside, without an outcome.',
    SITUATIONS.closed[2],
  ],
  replay_differs: [
    EXIT.failed,
    'The current code does not replay every history. Running workflows would get stuck with it.',
    'Revert the change, keep the old path behind patched(), or give the workers a new deployment version.',
  ],
  whatif_differs: [
    EXIT.failed,
    'The local run of a history ended with a different outcome than the history.',
    'Compare the two timelines. The lines "not played" name what the sandbox cannot reproduce; the code may also have changed since.',
  ],
  golden_differs: [
    EXIT.failed,
    'Golden histories are missing, changed or not in their manifest.',
    'Restore the files from version control; `temporal-media history record` adds new ones.',
  ],
  workflow_paused: [
    EXIT.failed,
    'An operator has paused the workflow in Temporal. The command sent no request to it.',
    `${SITUATIONS.paused[2]} Then repeat the command.`,
  ],
  spend_not_confirmed: [
    EXIT.spendNotConfirmed,
    'The estimate is above --max-spend or unknown, and was not confirmed. Nothing was sent.',
    'Raise --max-spend, confirm at the terminal or with --yes, or choose a cheaper request. --dry-run shows the estimate.',
  ],
  rebind_not_confirmed: [
    EXIT.spendNotConfirmed,
    '`worker --rebind` was not confirmed. Nothing was changed.',
    'Read the list, make sure that no worker uses the former journal any more, then confirm at the terminal or with --yes.',
  ],
  bad_input: [EXIT.badInput, 'A file or an argument is invalid.', 'Correct it and try again.'],
  history_unusable: [
    EXIT.badInput,
    'A file is not the complete history of a workflow.',
    'Export it again: `temporal workflow show --workflow-id ID -o json`, or `temporal-media history export ID FILE`.',
  ],
  resume_not_possible: [
    EXIT.badInput,
    'There is no video to continue with.',
    'Name the workflow id of a video, or the task id that an outcome shows.',
  ],
  not_found: [
    EXIT.badInput,
    'This id is unknown: there is no workflow, no record in the journal and no task at the service.',
    'Check the id and the namespace (TEMPORAL_NAMESPACE); `temporal-media doctor` checks the connections.',
  ],
  decision_refused: [
    EXIT.badInput,
    'The decision about a paid call of unknown fate was not applied. Nothing has changed.',
    '`temporal-media unconfirmed` lists the calls that wait for a decision.',
  ],
  ...CAMPAIGN_ERRORS,
  temporal_unreachable: [
    EXIT.unreachable,
    'The Temporal server does not answer.',
    'Start everything with `temporal-media dev`. If it already runs, pass its --data-dir or change to its directory. Otherwise set TEMPORAL_ADDRESS.',
  ],
  codec_unreachable: [
    EXIT.unreachable,
    'The codec server, which encodes and decodes payloads, does not work.',
    'Check TEMPORAL_CODEC_ENDPOINT and TEMPORAL_CODEC_AUTH.',
  ],
  payload_unreadable: [
    EXIT.unreachable,
    'A payload cannot be read here: a codec has encoded it, or it is in external storage.',
    'Set TEMPORAL_CODEC_ENDPOINT to its codec server. Read payloads in external storage with a client in code that has its drivers. Nothing needs to be sent again.',
  ],
  temporal_server_ended: [
    EXIT.unreachable,
    'The Temporal server of `dev` ended unexpectedly.',
    'Its log is temporal.log in the data directory. Start `temporal-media dev` again.',
  ],
  temporal_server_not_found: [
    EXIT.unreachable,
    'No Temporal server could be found, downloaded or built.',
    'Set TEMPORAL_ADDRESS to a server that runs, or TEMPORAL_CLI_PATH to the `temporal` command.',
  ],
  service_unreachable: [
    EXIT.unreachable,
    'The service does not answer at its base address.',
    'Check MEDIA_BASE_URL, the network and HTTPS_PROXY.',
  ],
  service_unexpected_reply: [
    EXIT.unreachable,
    'The server at the base address is not the service, or the service is out of order.',
    'Check MEDIA_BASE_URL with its path, and whether a proxy or a login page answers instead.',
  ],
  no_worker: [
    EXIT.unreachable,
    'No worker serves the task queue.',
    'Start one with `temporal-media worker` or `temporal-media dev`, or correct MEDIA_TASK_QUEUE.',
  ],
  cannot_write: [
    EXIT.cannotWrite,
    'The directory of the results cannot be written.',
    'With --out, name a directory that you can write to.',
  ],
  'artifacts/destination_occupied': [
    EXIT.cannotWrite,
    'A file with other content has the name of the result. Nothing is overwritten.',
    'Name another directory with --out and repeat the same id. Nothing is bought again.',
  ],
  'artifacts/not_found': [
    EXIT.cannotWrite,
    'The artifact store that this command sees does not have the result.',
    'Set MEDIA_DATA_DIR or MEDIA_ARTIFACTS as on the worker, then repeat the same id. Nothing is bought again.',
  ],
  'artifacts/hash_mismatch': [
    EXIT.cannotWrite,
    'The stored bytes do not match the hash in their name.',
    'Remove the broken file from the store and resume: it is downloaded again.',
  ],
  'artifacts/superseded': [EXIT.cannotWrite, 'Another process took over this file.', SAFE_IN_STORE],
  'artifacts/no_space': [EXIT.cannotWrite, 'The device or its quota is full.', MAKE_ROOM],
  'artifacts/not_writable': [EXIT.cannotWrite, 'The location cannot be written.', MAKE_ROOM],
  'artifacts/not_media': [
    EXIT.badInput,
    'The content of the file is not an image, a video or audio.',
    'Name a media file.',
  ],
  'artifacts/not_readable': [
    EXIT.badInput,
    'The file cannot be read.',
    'Correct its rights, or name another file.',
  ],
  'artifacts/too_large': [EXIT.badInput, 'The file is larger than allowed.', 'Name a smaller file.'],
  'artifacts/storage': [EXIT.cannotWrite, 'The artifact store failed.', MAKE_ROOM],
  journal_unusable: [
    EXIT.cannotWrite,
    'The journal cannot be read or written. Nothing is sent without it.',
    'Point MEDIA_JOURNAL (default: the folder journal in MEDIA_DATA_DIR) to a folder that the worker can write.',
  ],
  service_credentials: [
    EXIT.credentials,
    'The service refuses the key.',
    'Correct MEDIA_API_KEY, or the file that MEDIA_API_KEY_FILE names, where the worker runs.',
  ],
  temporal_credentials: [
    EXIT.credentials,
    'The Temporal server refuses access.',
    'Check TEMPORAL_API_KEY, TEMPORAL_TLS_* and TEMPORAL_NAMESPACE.',
  ],
  configuration: [
    EXIT.configuration,
    'A variable or a configuration file has a value that cannot be used.',
    'Correct the named variable; `temporal-media config show` lists all with their origin.',
  ],
  dev_running: [
    EXIT.configuration,
    '`temporal-media dev` already runs on this data directory.',
    'Use it as it is, stop it with Ctrl-C, or choose another data directory (MEDIA_DATA_DIR or --data-dir).',
  ],
  journal_binding: [
    EXIT.configuration,
    'The task queue belongs to another journal.',
    'Use the same journal or another task queue (MEDIA_TASK_QUEUE). If no worker uses the other journal any more, use `temporal-media worker --rebind`. Containers that share one volume need one MEDIA_HOST_ID.',
  ],
  other_artifact_store: [
    EXIT.configuration,
    'The worker of the task queue has a different artifact store than the command. Nothing was started.',
    'Set MEDIA_DATA_DIR or MEDIA_ARTIFACTS as on the worker, or name the queue of a worker with this store (MEDIA_TASK_QUEUE). With --detach, a request without files starts anyway.',
  ],
  namespace_not_found: [
    EXIT.configuration,
    'The Temporal server has no such namespace.',
    'Set TEMPORAL_NAMESPACE to a namespace that the server has.',
  ],
  models_unavailable: [
    EXIT.configuration,
    'The model configuration cannot be read.',
    'Correct MEDIA_MODELS: a file or URL with a model configuration; `temporal-media schema models` prints its schema.',
  ],
  two_sdk_copies: [
    EXIT.configuration,
    'Two copies of the Temporal SDK are installed.',
    'Make one version of every @temporalio package satisfy all (`npm ls @temporalio/common`, then `npm dedupe`).',
  ],
  node_version: [
    EXIT.configuration,
    'This version of Node is too old, or this runtime is not Node.',
    'Install Node 20.18.1 or later.',
  ],
  native_part_missing: [
    EXIT.configuration,
    'The native part of the Temporal SDK does not run on this system.',
    'Run the worker on Linux with glibc (x64 or arm64; in containers node:22-bookworm-slim instead of Alpine), on macOS, or on Windows x64. Commands without a worker run everywhere.',
  ],
  proxy: [
    EXIT.configuration,
    'The proxy of the environment cannot be used.',
    'Correct HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY.',
  ],
  optional_peer_missing: [
    EXIT.configuration,
    'The command needs an optional package that is not installed.',
    'npm install @temporal-media/sandbox @temporal-media/testing',
  ],
  port_in_use: [
    EXIT.configuration,
    'A port is taken.',
    'Choose another port, or omit the option to use a free one.',
  ],
  interrupted: [
    EXIT.interrupted,
    'Detached by Ctrl-C or SIGTERM. The work continues; nothing was canceled.',
    'Continue with `temporal-media resume ID`.',
  ],
} as const satisfies { readonly [type: string]: ErrorRow };

export type CommandErrorType = keyof typeof COMMAND_ERRORS;

/** Exit codes of outcomes: by type, else by the outcome before the slash. */
const OUTCOME_EXIT: { readonly [type: string]: ExitCode } = {
  still_running: EXIT.stillRunning,
  'failed/moderation': EXIT.moderation,
  'failed/capacity': EXIT.capacity,
  failed: EXIT.failed,
  content_unavailable: EXIT.noVideo,
  task_unknown: EXIT.failed,
  unconfirmed: EXIT.failed,
  results_lost: EXIT.failed,
  cancelled: EXIT.failed,
  'rejected/invalid_request': EXIT.badInput,
  'rejected/moderation': EXIT.moderation,
  'rejected/capacity': EXIT.capacity,
  'rejected/retry_later': EXIT.capacity,
  'rejected/credentials': EXIT.credentials,
  'rejected/spend_limit': EXIT.capacity,
  'rejected/account_not_configured': EXIT.configuration,
  'rejected/creation_key_conflict': EXIT.badInput,
  'rejected/creation_key_required': EXIT.badInput,
  'rejected/not_sent': EXIT.unreachable,
  'rejected/unsafe_retry_policy': EXIT.configuration,
  'rejected/unconfirmed_open': EXIT.unconfirmedOpen,
  rejected: EXIT.failed,
};

/** The one registry: every `error.type` with its exit code, in the order in which docs/errors.md lists them. */
export const ERROR_TYPES: readonly ErrorType[] = [
  ...FAILURE_TABLE.map(({ type, meaning, hint }) => ({ type, exitCode: outcomeExit(type), meaning, hint })),
  ...Object.entries<ErrorRow>(COMMAND_ERRORS).map(([type, [exitCode, meaning, hint]]) => ({
    type,
    exitCode,
    meaning,
    hint,
  })),
];

const BY_TYPE = new Map(ERROR_TYPES.map((row) => [row.type, row]));

/** The entry for a type; an unknown type gets the entry for `unexpected`. */
export function errorType(type: string): ErrorType {
  return BY_TYPE.get(type) ?? (BY_TYPE.get('unexpected') as ErrorType);
}

function outcomeExit(type: string): ExitCode {
  return OUTCOME_EXIT[type] ?? OUTCOME_EXIT[type.split('/')[0] ?? ''] ?? EXIT.unexpected;
}
