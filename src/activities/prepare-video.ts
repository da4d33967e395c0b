import { type VideoModel } from '../domain/model-config';
import { type VideoRequest } from '../domain/request';
import { requestBudgetMs } from '../domain/request-budget';
import { validateAgainstModel } from '../domain/validate-model';
import { validateRequest } from '../domain/validate-request';
import { type ValidationIssue } from '../domain/validation-issue';
import { type WireJsonBody, type WireMultipartBody } from '../service/wire-body';
import { wireVideoBody, type ResolvedReference } from '../service/wire-request';
import { estimateFor } from '../models/price-of';
import { type Account } from './accounts';
import { fetchReference } from './fetch-reference';
import { type PaidDeps } from './paid-context';
import { NOT_VALIDATED, UNSENDABLE, type MissingHere, type Prepared } from './prepared';
import { resolveSource } from './resolve-source';

/** Validates against the live configuration and makes the body. Sends nothing to the service. */
export async function prepareVideo(
  request: VideoRequest,
  account: Account,
  deps: PaidDeps,
): Promise<Prepared<WireJsonBody | WireMultipartBody>> {
  // First of all: what follows relies on the shape that only types promise.
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
  const lookup = await deps.models.lookup(request.model, 'video');
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

/** A model that takes bytes gets them also for references that are given as URLs. */
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
