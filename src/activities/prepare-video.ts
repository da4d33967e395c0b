import {
  addressMs,
  mappingOf,
  type ReferenceMapping,
  validateAgainstModel,
  type VideoModel,
} from '../domain/model-config';
import { estimateFor } from '../domain/money';
import { type ArtifactRef, type VideoReference, type VideoRequest } from '../domain/request';
import { type ValidationIssue } from '../domain/shape';
import { requestBudgetMs } from '../domain/timeouts';
import { validateRequest } from '../domain/validate-request';
import { type ResolvedReference, wireVideoBody } from '../service/request-bodies';
import { type WireBuild, type WireJsonBody, type WireMultipartBody } from '../service/wire-body';
import { type Account } from '../settings/accounts';
import { ArtifactError } from '../stores/artifacts/artifact-store';
import { type MissingHere, NOT_VALIDATED, type PaidDeps, type Prepared, UNSENDABLE } from './paid-context';
import { fetchReference, missing, resolveSource, resolveStored, signedAddress } from './sources';

type Body = WireJsonBody | WireMultipartBody;

/** A reference whose bytes are either known here, or stay in the store because the service receives a URL for them. */
interface FoundReference {
  readonly reference: VideoReference;
  readonly source: ResolvedReference['source'] | { readonly kind: 'stored'; readonly artifact: ArtifactRef };
  /** How the model accepts this reference, or undefined if it does not. */
  readonly mapping: ReferenceMapping | undefined;
}

/** Validates the request against the live configuration and builds the body. Sends nothing to the service. */
export async function prepareVideo(
  request: VideoRequest,
  account: Account,
  deps: PaidDeps,
): Promise<Prepared> {
  // Runs first, because the code below relies on a shape that only the types guarantee.
  const paid = { operation: 'create_video', request } as const;
  const [shapeIssue] = validateRequest(paid);
  if (shapeIssue !== undefined) return { kind: 'invalid', issue: shapeIssue, fileHashes: null };
  const lookup = await (account.models ?? deps.models).lookup(request.model, 'video');
  const model = lookup.found === 'entry' && lookup.entry.kind === 'video' ? lookup.entry : undefined;
  const references: FoundReference[] = [];
  const fileHashes = new Map<string, string>();
  let lacking: MissingHere | undefined;
  for (const [index, reference] of (request.references ?? []).entries()) {
    const mapping = mappingOf(reference, model?.references ?? []);
    const resolve = mapping?.form === 'url' ? resolveStored : resolveSource;
    const source = await resolve(reference.source, `references[${index}]`, deps);
    if (source.kind === 'issue') return { kind: 'invalid', issue: source.issue, fileHashes: null };
    if (source.kind === 'missing') {
      lacking ??= source.missing;
      continue;
    }
    if ('file' in reference.source && source.kind !== 'url') {
      const { sha256 } = source.kind === 'file' ? source.file : source.artifact;
      fileHashes.set(reference.source.file, sha256);
    }
    references.push({ reference, source, mapping });
  }
  if (lookup.found === 'unavailable') return { kind: 'unavailable', message: lookup.message, fileHashes };
  const { issues, validated } = validateAgainstModel(paid, lookup);
  if (issues[0] !== undefined) return { kind: 'invalid', issue: issues[0], fileHashes };
  if (lacking !== undefined) return { kind: 'missing', missing: lacking, fileHashes };
  const sendable = await asTheModelTakesThem(references, model, account, deps);
  if ('issue' in sendable) return { kind: 'invalid', issue: sendable.issue, fileHashes };
  if ('missing' in sendable) return { ...sendable, kind: 'missing', fileHashes };
  const wire = await bodyOf(request, model, sendable);
  if (!wire.ok) return { kind: 'invalid', issue: wire.issues[0] ?? UNSENDABLE, fileHashes };
  return {
    kind: 'ready',
    body: wire.body,
    estimate: estimateFor(paid, model),
    actual: model?.actual,
    polling: model?.polling,
    budgetMs: requestBudgetMs('video', model),
    idempotency: model?.idempotency,
    warnings: validated ? [] : [NOT_VALIDATED],
    fileHashes,
    isSigned: sendable.isSigned,
  };
}

/** References as they are sent, and as the hash names them: a signed URL is a secret and differs with each send. */
interface SendableReferences {
  readonly sent: readonly ResolvedReference[];
  readonly named: readonly ResolvedReference[];
  readonly isSigned: boolean;
}

/**
 * Converts references to the format that the model accepts. Downloads URL references for a model that accepts bytes,
 * and has the store sign a URL for each file for a model that accepts URLs. The send must follow immediately.
 */
async function asTheModelTakesThem(
  references: readonly FoundReference[],
  model: VideoModel | undefined,
  account: Account,
  { artifacts }: PaidDeps,
): Promise<SendableReferences | { readonly issue: ValidationIssue } | { readonly missing: MissingHere }> {
  const sent: ResolvedReference[] = [];
  const named: ResolvedReference[] = [];
  let isSigned = false;
  for (const [index, { reference, source, mapping }] of references.entries()) {
    const { kind, field: wireField } = reference;
    const add = (given: ResolvedReference['source'], name = given): void => {
      const rest = { kind, ...(wireField !== undefined && { field: wireField }) };
      sent.push({ ...rest, source: given });
      named.push({ ...rest, source: name });
    };
    const field = `references[${index}].source`;
    if (source.kind === 'stored') {
      const { artifact } = source;
      const expiresMs = addressMs(model as VideoModel, mapping as ReferenceMapping);
      const address = await signedAddress(artifacts, artifact, expiresMs, account.client.baseUrl).catch(
        (error: unknown) => {
          if (error instanceof ArtifactError) return missing(field, error.message);
          throw error;
        },
      );
      if ('missing' in address) return address;
      if ('refused' in address) return { issue: { field, message: address.refused } };
      isSigned = true;
      add({ kind: 'url', url: address.url }, { kind: 'url', url: artifact.uri });
    } else if (source.kind === 'url' && mapping !== undefined && mapping.form !== 'url') {
      const fetched = await fetchReference(source.url, field, account.client, artifacts);
      if (fetched.kind === 'issue') return { issue: fetched.issue };
      add(fetched);
    } else add(source);
  }
  return { sent, named, isSigned };
}

/**
 * Builds the body. If it contains signed URLs, its hash covers the artifacts' names instead, so that the same request
 * always has the same hash.
 */
async function bodyOf(
  request: VideoRequest,
  model: VideoModel | undefined,
  { sent, named, isSigned }: SendableReferences,
): Promise<WireBuild<Body>> {
  const body = await wireVideoBody(request, model, sent);
  if (!isSigned || !body.ok) return body;
  const byName = await wireVideoBody(request, model, named);
  return byName.ok ? { ok: true, body: { ...body.body, bodyHash: byName.body.bodyHash } } : byName;
}
