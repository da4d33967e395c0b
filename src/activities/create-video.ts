import { unknownKey } from '../domain/known-keys';
import { referenceModeOf, type VideoRequest } from '../domain/request';
import { type VideoModel, validateAgainstModel } from '../domain/model-config';
import {
  CREATE_VIDEO_INPUT_KEYS,
  type CreatedVideo,
  type CreateVideoAnswer,
  type CreateVideoInput,
} from '../domain/paid-call';
import { DEFAULT_POLLING } from '../domain/polling-profile';
import { requestBudgetMs } from '../domain/request-budget';
import { validateRequest } from '../domain/validate-request';
import { type ValidationIssue } from '../domain/validation-issue';
import { estimateFor } from '../domain/price';
import { type WireJsonBody, type WireMultipartBody } from '../service/wire-body';
import { type ResolvedReference } from '../service/wire-references';
import { wireVideoBody } from '../service/wire-video';
import { type Account } from '../accounts/registry';
import { indexCreated } from './send-attempts';
import { sendInSpan } from './media-spans';
import { failureAnswer, invalidAnswer, pendingAnswer, rejectedAnswer, warningsAfter } from './paid-answers';
import {
  type Caller,
  caller,
  type MissingHere,
  NOT_VALIDATED,
  type PaidDeps,
  type Prepared,
  refuseUnsafeRetries,
  UNSENDABLE,
} from './paid-context';
import { sendAndReport } from './send-and-report';
import { type PaidSpec } from './send-once';
import { type Sender, withSender } from './sender';
import { fetchReference, resolveSource } from './sources';

type Answer = Exclude<CreateVideoAnswer, { outcome: 'pending' }>;
type VideoCall = CreateVideoInput &
  Pick<PaidSpec<WireJsonBody | WireMultipartBody, Answer>, 'agreedPrice' | 'keepsBooks' | 'payer'>;

/**
 * Sends at most one POST per send attempt of a creation key (architecture: Create), alone or as a row of a group. Every
 * outcome is a value; an error is thrown only before anything could be sent.
 * @param sender receives the task id as soon as the service replies, before it is recorded: best effort, the journal
 * keeps it
 */
export async function createOneVideo(
  deps: PaidDeps,
  who: Caller,
  input: VideoCall,
  sender: Sender,
): Promise<CreateVideoAnswer> {
  const result = await sendAndReport(deps, who, specOf(input, deps, sender));
  const { claim, heartbeat } = result;
  // A claim in the result was compared with this request.
  const compared = {
    ...(heartbeat !== undefined && { heartbeat }),
    ...(claim !== null && { fingerprint: claim.fingerprint }),
  };
  if (result.kind === 'pending') return pendingAnswer(result.base, compared);
  const key = { namespace: who.namespace, creationKey: input.creationKey };
  await indexCreated(deps.journal, key, result.answer, claim);
  // Not recorded, because it depends on the answering worker whether task records can be read.
  return result.answer.outcome === 'unconfirmed' && deps.taskRecords !== undefined
    ? { ...result.answer, inspectable: true, ...compared }
    : result.answer;
}

function specOf(
  input: VideoCall,
  deps: PaidDeps,
  sender: Sender,
): PaidSpec<WireJsonBody | WireMultipartBody, Answer> {
  const { request } = input;
  const facts = {
    durationSeconds: request.durationSeconds ?? null,
    resolution: request.resolution ?? null,
    referenceMode: referenceModeOf(request.references),
  };
  return {
    paid: { operation: 'create_video', request },
    creationKey: input.creationKey,
    sendAttempt: input.sendAttempt,
    account: input.account,
    policy: input.policy,
    refuseWhileUnconfirmed: input.refuseWhileUnconfirmed,
    again: input.again,
    facts,
    afterReplyMs: 0,
    reopenOwn: false,
    sender,
    agreedPrice: input.agreedPrice,
    payer: input.payer,
    ...(input.keepsBooks === true && { keepsBooks: true }),
    ...(input.recordedOnly === true && { recordedOnly: true }),
    ...(input.sameKey === true && { sameKey: true }),
    prepare: (account) => prepareVideo(request, account, deps),
    post: async ({ account, ready, intent, base, options }) => {
      const isKnownModel = !ready.warnings.includes(NOT_VALIDATED);
      const { sendAttempt } = base;
      const { model } = request;
      const call = {
        operation: 'create_video',
        account: account.name,
        model,
        isKnownModel,
        sendAttempt,
      } as const;
      const reply = await sendInSpan(call, options, (sent) => account.client.createVideo(ready.body, sent));
      if (reply.class !== 'accepted') return failureAnswer(reply, base, intent);
      sender.created(reply.taskId);
      const created: CreatedVideo = {
        ...base,
        outcome: 'created',
        status: reply.status,
        warnings: warningsAfter(base, ready.warnings),
        video: {
          taskId: reply.taskId,
          model: request.model,
          ...facts,
          account: account.name,
          polling: ready.polling ?? DEFAULT_POLLING,
          createdAt: new Date().toISOString(),
          source: 'create_reply',
        },
      };
      return created;
    },
  };
}

/** Validates what an untyped caller may get wrong, before any lookup. */
function rawInputIssue(input: CreateVideoInput): CreateVideoAnswer | undefined {
  const base = { sendAttempt: 0, sent: false, account: null, estimate: null };
  const unknown = unknownKey(input, CREATE_VIDEO_INPUT_KEYS);
  if (unknown !== undefined) return invalidAnswer(base, unknown);
  const { creationKey } = input;
  if (typeof creationKey === 'string' && creationKey !== '') return undefined;
  const message =
    'creationKey must be a text, such as the id of the row or order it serves. Nothing was sent.';
  return rejectedAnswer(base, 'creation_key_required', message, { field: 'creationKey' });
}

/** `media.createVideo`: one create ({@link createOneVideo}). */
export function createCreateVideo(deps: PaidDeps): (input: CreateVideoInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    refuseUnsafeRetries(deps.journal);
    const refused = rawInputIssue(input);
    if (refused !== undefined) return refused;
    const who = caller(input);
    return withSender(deps, (sender) => createOneVideo(deps, who, input, sender));
  };
}

/** Validates against the live configuration and builds the body. Sends nothing to the service. */
async function prepareVideo(
  request: VideoRequest,
  account: Account,
  deps: PaidDeps,
): Promise<Prepared<WireJsonBody | WireMultipartBody>> {
  // First, because the code below relies on the shape that only types promise.
  const paid = { operation: 'create_video', request } as const;
  const [shapeIssue] = validateRequest(paid);
  if (shapeIssue !== undefined) return { kind: 'unreadable', issue: shapeIssue };
  const references: ResolvedReference[] = [];
  const fileHashes = new Map<string, string>();
  let missing: MissingHere | undefined;
  for (const [index, reference] of (request.references ?? []).entries()) {
    const source = await resolveSource(reference.source, `references[${index}]`, deps);
    if (source.kind === 'issue') return { kind: 'unreadable', issue: source.issue };
    if (source.kind === 'missing') {
      missing ??= source.missing;
      continue;
    }
    if (source.kind === 'file' && 'file' in reference.source)
      fileHashes.set(reference.source.file, source.file.sha256);
    references.push({
      kind: reference.kind,
      source,
      ...(reference.field === undefined ? {} : { field: reference.field }),
    });
  }
  const lookup = await (account.models ?? deps.models).lookup(request.model, 'video');
  if (lookup.found === 'unavailable') return { kind: 'unavailable', message: lookup.message, fileHashes };
  const { issues, validated } = validateAgainstModel(paid, lookup);
  if (issues[0] !== undefined) return { kind: 'invalid', issue: issues[0], fileHashes };
  if (missing !== undefined) return { kind: 'missing', missing, fileHashes };
  const model = lookup.found === 'entry' ? (lookup.entry as VideoModel) : undefined;
  const readable = await fetchWhatMustBeSent(references, model, account, deps);
  if ('issue' in readable) return { kind: 'invalid', issue: readable.issue, fileHashes };
  const wire = await wireVideoBody(request, model, readable.references);
  if (!wire.ok) return { kind: 'invalid', issue: wire.issues[0] ?? UNSENDABLE, fileHashes };
  return {
    kind: 'ready',
    body: wire.body,
    estimate: estimateFor(paid, model),
    polling: model?.polling,
    budgetMs: requestBudgetMs('video', model),
    idempotency: model?.idempotency,
    warnings: validated ? [] : [NOT_VALIDATED],
    fileHashes,
  };
}

/** Fetches the bytes of references that are given as URLs, for a model that takes bytes. */
async function fetchWhatMustBeSent(
  references: readonly ResolvedReference[],
  model: VideoModel | undefined,
  account: Account,
  deps: PaidDeps,
): Promise<{ readonly references: ResolvedReference[] } | { readonly issue: ValidationIssue }> {
  const fetched: ResolvedReference[] = [];
  for (const [index, reference] of references.entries()) {
    const mapping = model?.references?.find(
      ({ kind, field }) =>
        kind === reference.kind && (reference.field === undefined || reference.field === field),
    );
    if (reference.source.kind === 'file' || mapping === undefined || mapping.form === 'url') {
      fetched.push(reference);
      continue;
    }
    const source = await fetchReference(
      reference.source.url,
      `references[${index}].source`,
      account.client,
      deps.artifacts,
    );
    if (source.kind === 'issue') return { issue: source.issue };
    fetched.push({ ...reference, source });
  }
  return { references: fetched };
}
