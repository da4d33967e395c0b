import { CAMPAIGN_ADVICE, SITUATIONS } from 'temporal-media/internal/domain/advice';
import { FAILURE_TABLE } from 'temporal-media/internal/domain/failure-table';
import { EXIT, type ExitCode } from './exit';

export { EXIT, EXIT_MEANINGS, type ExitCode } from './exit';

/** Errors of `campaign`, which are part of the command line's registry. */
const CAMPAIGN_ERRORS = {
  campaign_unconfirmed: [
    EXIT.failed,
    'Some rows need a decision, because it is unknown whether they were bought. They will not be sent again.',
    CAMPAIGN_ADVICE.campaign_unconfirmed,
  ],
  campaign_failed_rows: [
    EXIT.failed,
    'The campaign has ended, and some of its rows failed.',
    CAMPAIGN_ADVICE.campaign_failed_rows,
  ],
  campaign_budget_spent: [
    EXIT.failed,
    'The campaign has ended. Some rows were not bought because its budget was used up.',
    CAMPAIGN_ADVICE.campaign_budget_spent,
  ],
  campaign_cancelled: [
    EXIT.failed,
    'The campaign was canceled. No further rows are bought; rows already bought are collected.',
    CAMPAIGN_ADVICE.campaign_cancelled,
  ],
  campaign_changed_rows: [
    EXIT.failed,
    'The text of rows that were already bought has changed. They were not bought again.',
    CAMPAIGN_ADVICE.campaign_changed_rows,
  ],
  campaign_conflict: [
    EXIT.badInput,
    'The id belongs to a running campaign with another manifest, or to another workflow. Nothing was started.',
    'Use another --id, or wait until the campaign has ended. The same id then buys only rows without a result.',
  ],
  campaign_ended: [
    EXIT.badInput,
    'The campaign has ended and can no longer be changed.',
    '`temporal-media campaign resume ID` continues with the remaining rows. `temporal-media campaign retry ID` buys new attempts of the failed rows.',
  ],
  campaign_order_refused: [
    EXIT.badInput,
    'The campaign did not apply the change. Nothing has changed.',
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
    'The budget cannot be enforced: a model has no price, or prices are in several currencies. Nothing was sent.',
    CAMPAIGN_ADVICE.budget_refused,
  ],
} as const satisfies { readonly [type: string]: ErrorRow };

/** An error type, as in the JSON object's `error.type`. */
interface ErrorType {
  readonly type: string;
  readonly exitCode: ExitCode;
  /** One sentence that says what happened. */
  readonly meaning: string;
  /** What to do next, unless the command gives a more specific hint. */
  readonly hint: string;
}

type ErrorRow = readonly [exitCode: ExitCode, meaning: string, hint: string];

const MAKE_ROOM = 'Free up space in MEDIA_DATA_DIR or MEDIA_ARTIFACTS, or fix its permissions.';
const SAFE_IN_STORE = 'The result is safe in the artifact store. Resume, or repeat the same id.';

/** Errors of the command line itself. Outcomes of requests are in the domain's failure table. */
export const COMMAND_ERRORS = {
  unexpected: [EXIT.unexpected, 'An unexpected error occurred.', 'TEMPORAL_MEDIA_DEBUG=1 prints the stack.'],
  child_failed: [
    EXIT.unexpected,
    "The command's child process did not become ready.",
    "Its log is in the data directory's `logs` directory.",
  ],
  usage: [
    EXIT.usage,
    'A command or an option is unknown or missing, or a value is not one of its choices. Other invalid values are `rejected/invalid_request` or `bad_input`.',
    '`temporal-media --help` lists the commands, and `temporal-media COMMAND --help` lists the options.',
  ],
  demo_failed: [
    EXIT.failed,
    'Some demo results were not as expected.',
    "The workers' logs are in the data directory's `logs` directory.",
  ],
  workflow_ended: [
    EXIT.failed,
    'The workflow was closed externally, without an outcome.',
    SITUATIONS.closed[2],
  ],
  replay_differs: [
    EXIT.failed,
    'The current code does not replay every history. Running workflows would get stuck with this code.',
    'Revert the change, keep the old path behind patched(), or deploy the workers as a new version.',
  ],
  whatif_differs: [
    EXIT.failed,
    'The local run of a history ended with a different outcome than the history.',
    'Compare the two timelines. The "not played" lines show what the sandbox cannot reproduce. The code may also have changed since.',
  ],
  golden_differs: [
    EXIT.failed,
    'Golden histories are missing, changed or not in their manifest.',
    'Restore the files from version control. `temporal-media history record` adds new ones.',
  ],
  workflow_paused: [
    EXIT.failed,
    'An operator has paused the workflow in Temporal. The command did not send it a request.',
    `${SITUATIONS.paused[2]} Then repeat the command.`,
  ],
  invoice_unknown_calls: [
    EXIT.failed,
    'The invoice bills calls that this journal did not send.',
    'Find out who else uses the key. If the line is a lost reply, adopt its task with `temporal-media unconfirmed adopt`.',
  ],
  invoice_differs: [
    EXIT.invoiceDiffers,
    'The invoice and the journal differ.',
    'Each finding names its line and its call. --out writes all of them to a file.',
  ],
  spend_not_confirmed: [
    EXIT.spendNotConfirmed,
    'The estimate is above --max-spend or unknown, and was not confirmed. Nothing was sent.',
    'Raise --max-spend, confirm at the prompt or with --yes, or choose a cheaper request. --dry-run shows the estimate.',
  ],
  rebind_not_confirmed: [
    EXIT.spendNotConfirmed,
    '`worker --rebind` was not confirmed. Nothing was changed.',
    'Read the list, make sure that no worker still uses the previous journal, then confirm at the prompt or with --yes.',
  ],
  bad_input: [EXIT.badInput, 'A file or an argument is invalid.', 'Fix it and try again.'],
  history_unusable: [
    EXIT.badInput,
    "A file is not a workflow's complete history.",
    'Export it again: `temporal workflow show --workflow-id ID -o json`, or `temporal-media history export ID FILE`.',
  ],
  resume_not_possible: [
    EXIT.badInput,
    'There is no video to resume.',
    "Pass a video's workflow id, or the task id from an outcome.",
  ],
  not_found: [
    EXIT.badInput,
    'The id is unknown: it does not match a workflow, a journal record or a task at the service.',
    'Check the id and the namespace (TEMPORAL_NAMESPACE). `temporal-media doctor` checks the connections.',
  ],
  decision_refused: [
    EXIT.badInput,
    'The decision about an unconfirmed call was not applied. Nothing has changed.',
    '`temporal-media unconfirmed` lists the calls that need a decision.',
  ],
  ...CAMPAIGN_ERRORS,
  temporal_unreachable: [
    EXIT.unreachable,
    'The Temporal server does not respond.',
    'Start everything with `temporal-media dev`. If it is already running, pass its --data-dir or change to its directory. To use another server, set TEMPORAL_ADDRESS.',
  ],
  codec_unreachable: [
    EXIT.unreachable,
    'The codec server, which encodes and decodes payloads, is not working.',
    'Check TEMPORAL_CODEC_ENDPOINT and TEMPORAL_CODEC_AUTH.',
  ],
  storage_unreachable: [
    EXIT.unreachable,
    'The external storage, which keeps payloads, is not working.',
    'Check MEDIA_EXTERNAL_STORAGE or MEDIA_DATA_CONVERTER, and the AWS_* variables of the bucket.',
  ],
  payload_unreadable: [
    EXIT.unreachable,
    'A payload cannot be read here, because a codec has encoded it or it is in external storage.',
    "For a codec, set TEMPORAL_CODEC_ENDPOINT to the codec server. For external storage, set MEDIA_EXTERNAL_STORAGE to its bucket, or MEDIA_DATA_CONVERTER to a module with the workers' data converter. Nothing needs to be sent again.",
  ],
  temporal_server_ended: [
    EXIT.unreachable,
    'The `dev` Temporal server exited unexpectedly.',
    'Its log is temporal.log in the data directory. Restart `temporal-media dev`.',
  ],
  temporal_server_not_found: [
    EXIT.unreachable,
    'A Temporal server could not be found, downloaded or built.',
    'Set TEMPORAL_ADDRESS to a running server, or TEMPORAL_CLI_PATH to the `temporal` command.',
  ],
  service_unreachable: [
    EXIT.unreachable,
    'The service does not respond at its base URL.',
    'Check MEDIA_BASE_URL, the network and HTTPS_PROXY.',
  ],
  service_unexpected_reply: [
    EXIT.unreachable,
    'The server at the base URL is not the service, or the service is not working.',
    'Check MEDIA_BASE_URL, including its path, and whether a proxy or a login page responds instead.',
  ],
  no_worker: [
    EXIT.unreachable,
    'No worker is polling the task queue.',
    'Start one with `temporal-media worker` or `temporal-media dev`, or fix MEDIA_TASK_QUEUE.',
  ],
  cannot_write: [EXIT.cannotWrite, 'The output directory is not writable.', 'Pass a writable --out.'],
  'artifacts/destination_occupied': [
    EXIT.cannotWrite,
    "A different file already has the result's name. Nothing was overwritten.",
    'Pass another directory in --out and repeat the command with the same id. Nothing is bought again.',
  ],
  'artifacts/not_found': [
    EXIT.cannotWrite,
    "This command's artifact store does not contain the result.",
    "Set MEDIA_DATA_DIR or MEDIA_ARTIFACTS to the worker's value, then repeat the same id. Nothing is bought again.",
  ],
  'artifacts/hash_mismatch': [
    EXIT.cannotWrite,
    'The stored bytes do not match the hash in their name.',
    'Remove the broken file from the store and resume. The file is then downloaded again.',
  ],
  'artifacts/superseded': [EXIT.cannotWrite, 'Another process took over this file.', SAFE_IN_STORE],
  'artifacts/no_space': [EXIT.cannotWrite, 'The device or its quota is full.', MAKE_ROOM],
  'artifacts/not_writable': [EXIT.cannotWrite, 'The location is not writable.', MAKE_ROOM],
  'artifacts/not_media': [
    EXIT.badInput,
    "The file's content is not an image, a video or audio.",
    'Pass a media file.',
  ],
  'artifacts/not_readable': [EXIT.badInput, 'The file cannot be read.', 'Fix its permissions.'],
  'artifacts/too_large': [EXIT.badInput, 'The file is larger than allowed.', 'Pass a smaller file.'],
  'artifacts/storage': [EXIT.cannotWrite, 'The artifact store failed.', MAKE_ROOM],
  journal_unusable: [
    EXIT.cannotWrite,
    'The journal cannot be read or written. Nothing is sent without it.',
    'Set MEDIA_JOURNAL (default: the folder journal in MEDIA_DATA_DIR) to a folder that the worker can write to.',
  ],
  service_credentials: [
    EXIT.credentials,
    'The service rejected the key.',
    'On the worker, fix MEDIA_API_KEY or the file MEDIA_API_KEY_FILE points to.',
  ],
  temporal_credentials: [
    EXIT.credentials,
    'The Temporal server denied access.',
    'Check TEMPORAL_API_KEY, TEMPORAL_TLS_* and TEMPORAL_NAMESPACE.',
  ],
  configuration: [
    EXIT.configuration,
    'A variable or a configuration file has an invalid value.',
    'Fix the named variable. `temporal-media config show` lists all variables and where they come from.',
  ],
  dev_running: [
    EXIT.configuration,
    '`temporal-media dev` is already running with this data directory.',
    'Use the running one, stop it with Ctrl-C, or choose another data directory (MEDIA_DATA_DIR or --data-dir).',
  ],
  journal_binding: [
    EXIT.configuration,
    'The task queue belongs to another journal.',
    'Use that journal or another task queue (MEDIA_TASK_QUEUE). If no worker uses the other journal anymore, run `temporal-media worker --rebind`. Containers that share a volume must have the same MEDIA_HOST_ID.',
  ],
  other_artifact_store: [
    EXIT.configuration,
    "The task queue's worker has a different artifact store than the command. Nothing was started.",
    "Set MEDIA_DATA_DIR or MEDIA_ARTIFACTS to the worker's value, or set MEDIA_TASK_QUEUE to the queue of a worker with this store. With --detach, a request without files starts anyway.",
  ],
  namespace_not_found: [
    EXIT.configuration,
    'The namespace does not exist on the Temporal server.',
    'Set TEMPORAL_NAMESPACE to an existing namespace.',
  ],
  models_unavailable: [
    EXIT.configuration,
    'The model configuration cannot be read.',
    'Set MEDIA_MODELS to a file or URL with a model configuration. `temporal-media schema models` prints its schema.',
  ],
  two_sdk_copies: [
    EXIT.configuration,
    'Two copies of the Temporal SDK are installed.',
    'Install a single version of every @temporalio package (`npm ls @temporalio/common`, then `npm dedupe`).',
  ],
  node_version: [
    EXIT.configuration,
    'This version of Node is too old, or this runtime is not Node.',
    'Install Node 20.18.1 or later.',
  ],
  native_part_missing: [
    EXIT.configuration,
    "The Temporal SDK's native module does not run on this system.",
    'Run the worker on Linux with glibc (x64 or arm64; in containers node:22-bookworm-slim instead of Alpine), on macOS, or on Windows x64. Commands without a worker run everywhere.',
  ],
  proxy: [
    EXIT.configuration,
    'The configured proxy cannot be used.',
    'Fix HTTPS_PROXY or HTTP_PROXY, or add the host to NO_PROXY.',
  ],
  optional_peer_missing: [
    EXIT.configuration,
    'The command requires an optional package that is not installed.',
    'npm install @temporal-media/sandbox @temporal-media/testing',
  ],
  port_in_use: [
    EXIT.configuration,
    'A port is already in use.',
    'Choose another port, or omit the option to use a free port.',
  ],
  interrupted: [
    EXIT.interrupted,
    'Detached by Ctrl-C or SIGTERM. The work continues; nothing was canceled.',
    'Continue with `temporal-media resume ID`.',
  ],
} as const satisfies { readonly [type: string]: ErrorRow };

export type CommandErrorType = keyof typeof COMMAND_ERRORS;

/** Exit codes of outcomes by type or, without an entry, by the outcome before the slash. */
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

/** The registry of every `error.type` with its exit code, in the order of docs/errors.md. */
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

/** Returns a type's entry, or the entry for `unexpected` if the type is unknown. */
export function errorType(type: string): ErrorType {
  return BY_TYPE.get(type) ?? (BY_TYPE.get('unexpected') as ErrorType);
}

function outcomeExit(type: string): ExitCode {
  return OUTCOME_EXIT[type] ?? OUTCOME_EXIT[type.split('/')[0] ?? ''] ?? EXIT.unexpected;
}
