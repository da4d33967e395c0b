import { hash } from 'node:crypto';
import { type ManifestIssue } from '../domain/campaign/plan';
import { type CampaignRow, MAX_ROW_ID_LENGTH, contentKey } from '../domain/campaign/row';
import { fingerprintText } from '../domain/fingerprint';
import { given } from '../domain/json';
import { addressedSources, validateAgainstModel } from '../domain/model-config';
import { estimateFor, isLabel, LABEL_FORM, type Labels, labelsCheck, type Money } from '../domain/money';
import { type ArtifactRef, type PaidRequest } from '../domain/request';
import { validateRequest } from '../domain/validate-request';
import { type ManifestRow } from './columns';
import { RowValues } from './manifest-row';
import { type PreviousResults, resumeRows, type ResumeRules } from './previous-results';
import { readManifest } from './read-manifest';
import { readCall } from './row-call';
import { type ModelSnapshot, type SourceLookup } from './row-lookups';

interface ReadRow {
  readonly line: number;
  readonly key: string;
  readonly content: string;
  readonly call: PaidRequest;
  readonly account?: string;
  readonly labels?: Labels;
  /** Whether only another worker has the account, so its models are unknown here. */
  readonly isElsewhere: boolean;
  /** Issues from the model configuration; empty if it allows the call. */
  readonly modelIssues: readonly ManifestIssue[];
}

/** Reads one row and validates it. Issues include columns, allowed values and the row's ID, but never its texts. */
async function validateRow(
  row: ManifestRow,
  validator: ValidateOptions,
  keys: RowKeys,
): Promise<ReadRow | { readonly issues: readonly ManifestIssue[] }> {
  const values = new RowValues(row);
  const id = readId(values);
  const withId = (issues: readonly ManifestIssue[]) =>
    id === undefined ? issues : issues.map((issue) => ({ ...issue, id }));
  const account = values.text('account');
  if (account !== undefined && !validator.knowsAccount(account))
    values.issue('account', 'The worker does not have a credential (account) with this name.');
  const labels = readLabels(values, validator.labels);
  const { sources } = validator;
  const models = validator.models(account);
  const call = await readCall(values, {
    artifact: (sha256) => sources.artifact(sha256),
    file: (path) => sources.file(path),
    kindOf: (model) => models.kindOf(model),
  });
  if (call === undefined || values.issues.length > 0) return { issues: withId(values.issues) };
  for (const { field, message, allowed } of validateRequest(call)) addIssue(values, field, message, allowed);
  if (values.issues.length > 0) return { issues: withId(values.issues) };
  const content = contentOf(call, account);
  const found = keys.keyOf(id, content, row.line);
  if ('takenBy' in found) {
    values.issue('id', `The row on line ${found.takenBy} already has this ID.`);
    return { issues: withId(values.issues) };
  }
  const isElsewhere = account !== undefined && validator.isElsewhere(account);
  // This worker's models say nothing about another worker's limits and prices. That worker validates the row.
  if (!isElsewhere) {
    const lookup = await models.lookupOf(call);
    for (const { field, message, allowed } of validateAgainstModel(call, lookup).issues)
      addIssue(values, field, message, allowed);
    for (const { source, field } of addressedSources(call, lookup)) {
      const message = 'artifact' in source && (await validator.unaddressable?.(source.artifact, account));
      if (typeof message === 'string') addIssue(values, field, message, undefined);
    }
  }
  return {
    line: row.line,
    key: found.key,
    content,
    call,
    ...given({ account, labels }),
    isElsewhere,
    modelIssues: withId(values.issues),
  };
}

/** SHA-256 of a row's call: operation, model, fields, files by content, and the credential. */
export function contentOf(call: PaidRequest, account: string | undefined): string {
  return hash('sha256', fingerprintText(call, account ?? null), 'hex');
}

/** Returns the row's labels, which replace the campaign's labels of the same name. Undefined if there are none. */
function readLabels(values: RowValues, common: Labels = {}): Labels | undefined {
  const labels: Record<string, string> = { ...common };
  for (const { column, key, suffix = '' } of values.all()) {
    if (column.name !== 'label') continue;
    const text = values.text(key);
    if (text === undefined) continue;
    if (isLabel([suffix, text])) labels[suffix] = text;
    else values.issue(key, `A label has ${LABEL_FORM}.`);
  }
  if (labelsCheck(labels, 'labels') !== undefined && values.issues.length === 0)
    values.issue(null, 'The row and its campaign can have at most 8 labels together.');
  return Object.keys(labels).length === 0 ? undefined : labels;
}

function readId(values: RowValues): string | undefined {
  const { value } = values.get('id') ?? {};
  const id = typeof value === 'number' ? String(value) : values.text('id');
  if (id === undefined || id === '') return undefined;
  if (id.length <= MAX_ROW_ID_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(id)) return id;
  values.issue(
    'id',
    `An ID can be at most ${MAX_ROW_ID_LENGTH} characters long and cannot contain control characters or invalid Unicode.`,
  );
  return undefined;
}

/** Columns whose names differ from those of their request fields. */
const COLUMN_OF: { readonly [field: string]: string } = {
  durationSeconds: 'duration',
  aspectRatio: 'aspect_ratio',
  responseFormat: 'response_format',
};

function addIssue(
  values: RowValues,
  field: string,
  message: string,
  allowed: readonly string[] | undefined,
): void {
  const [path = ''] = field.split(/[[]/);
  const words = message.replace(/\b(durationSeconds|aspectRatio|responseFormat)\b/g, (word) =>
    values.nameOf(COLUMN_OF[word] ?? word),
  );
  values.issue(columnKey(values, path), words, allowed);
}

function columnKey(values: RowValues, path: string): string {
  if (path.startsWith('fields.')) {
    const key = `field:${path.slice('fields.'.length)}`;
    return values.get(key) === undefined ? 'fields' : key;
  }
  if (path !== 'references') return COLUMN_OF[path] ?? path;
  // If only one column contains references, name it in the issue.
  const given = [...values.all()].filter(({ column }) => /_reference$|^references$/.test(column.name));
  return given.length === 1 ? (given[0]?.key ?? path) : path;
}

export type ValidatedRow =
  | { readonly kind: 'invalid'; readonly issues: readonly ManifestIssue[] }
  | { readonly kind: 'stands' | 'not_asked' }
  | {
      readonly kind: 'taken';
      readonly row: CampaignRow;
      readonly call: PaidRequest;
      /** Null means unknown. */
      readonly price: Money | null;
      /** Whether only another worker has the account and knows the price. */
      readonly isElsewhere: boolean;
      /** Whether the attempt is already bought, so its cost is in the ledger. */
      readonly hasTask: boolean;
    };

/** @param account the row's account; the campaign's if undefined */
export type Unaddressable = (
  artifact: ArtifactRef,
  account: string | undefined,
) => Promise<string | undefined>;

interface ValidateOptions extends ResumeRules {
  readonly format?: 'csv' | 'jsonl';
  /** Returns an account's model configuration. Without a name, the campaign's account is used. */
  readonly models: (account?: string) => ModelSnapshot;
  readonly sources: SourceLookup;
  /** Returns the reason if an account's service cannot reach an artifact. @default every artifact is reachable */
  readonly unaddressable?: Unaddressable;
  readonly earlier: PreviousResults;
  /** The campaign's labels. @default none */
  readonly labels?: Labels;
  knowsAccount(name: string): boolean;
  isElsewhere(account: string): boolean;
}

export async function* validatedRows(
  bytes: AsyncIterable<Uint8Array>,
  options: ValidateOptions,
): AsyncGenerator<ValidatedRow> {
  const { models, earlier } = options;
  const keys = new RowKeys();
  let place = 0;
  for await (const written of readManifest(bytes, options.format)) {
    const number = place++;
    const read = await validateRow(written, options, keys);
    if ('issues' in read) {
      yield { kind: 'invalid', issues: read.issues };
      continue;
    }
    const taken = await resumeRows(read, earlier.find(read.key), options);
    if (taken.kind !== 'taken') {
      yield taken;
      continue;
    }
    const { attempt, rebought, changed, was, mayBeBought, hasTask } = taken;
    // A bought attempt's result is collected even if the configuration no longer allows the call.
    if (read.modelIssues.length > 0 && !mayBeBought) {
      yield { kind: 'invalid', issues: read.modelIssues };
      continue;
    }
    const { isElsewhere } = read;
    const lookup = isElsewhere ? undefined : await models(read.account).lookupOf(read.call);
    const price =
      lookup === undefined
        ? null
        : estimateFor(read.call, lookup.found === 'entry' ? lookup.entry : undefined);
    const row: CampaignRow = {
      row: number,
      line: read.line,
      key: read.key,
      content: read.content,
      call: read.call,
      ...given({ account: read.account, labels: read.labels }),
      estimate: price?.microUnits ?? null,
      attempt,
      ...given({ rebought, changed, was }),
    };
    yield { kind: 'taken', row, call: read.call, price, isElsewhere, hasTask };
  }
}

/** Assigns every row its key and detects duplicate keys. */
export class RowKeys {
  /** The line of the first row with each key. */
  readonly #lines = new Map<string, number>();
  /** The number of rows without an ID, by content. */
  readonly #occurrences = new Map<string, number>();

  /** @returns the key, or the line of the earlier row with this key */
  keyOf(
    id: string | undefined,
    content: string,
    line: number,
  ): { readonly key: string } | { readonly takenBy: number } {
    const key = id ?? this.#contentKey(content);
    const takenBy = this.#lines.get(key);
    if (takenBy !== undefined) return { takenBy };
    this.#lines.set(key, line);
    return { key };
  }

  /** Derives a key from the content and its occurrence, counted from 0. Independent of rows with other content. */
  #contentKey(content: string): string {
    const occurrence = this.#occurrences.get(content) ?? 0;
    this.#occurrences.set(content, occurrence + 1);
    return contentKey(content, occurrence);
  }
}
