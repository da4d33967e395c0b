import { type ImageModel } from '../domain/model-config';
import { type PaidRequest } from '../domain/request';
import { requestBudgetMs } from '../domain/request-budget';
import { validateAgainstModel } from '../domain/validate-model';
import { validateRequest } from '../domain/validate-request';
import { type WireFile, type WireJsonBody, type WireMultipartBody } from '../service/wire-body';
import { wireEditBody, wireGenerationBody } from '../service/wire-request';
import { estimateFor } from '../models/price-of';
import { type PaidDeps } from './paid-context';
import { NOT_VALIDATED, UNSENDABLE, type MissingHere, type Prepared } from './prepared';
import { resolveSource } from './resolve-source';

/** Validates an image call against the live configuration and makes its body. Sends nothing to the service. */
export async function prepareImage(
  paid: PaidRequest,
  deps: PaidDeps,
): Promise<Prepared<WireJsonBody | WireMultipartBody>> {
  // First of all: what follows relies on the shape that only types promise.
  const [shapeIssue] = validateRequest(paid);
  if (shapeIssue !== undefined) return { kind: 'unreadable', issue: shapeIssue };
  const fileHashes = new Map<string, string>();
  const files: WireFile[] = [];
  let mask: WireFile | undefined;
  let missing: MissingHere | undefined;
  if (paid.operation === 'edit_image') {
    const sources = [
      ...(paid.request.images ?? []).map((source, index) => ({ source, field: `images[${index}]` })),
    ];
    if (paid.request.mask !== undefined) sources.push({ source: paid.request.mask, field: 'mask' });
    for (const { source, field } of sources) {
      const resolved = await resolveSource(source, field, deps);
      if (resolved.kind === 'issue') return { kind: 'unreadable', issue: resolved.issue };
      if (resolved.kind === 'missing') {
        missing ??= resolved.missing;
        continue;
      }
      if (resolved.kind === 'url') {
        const message = 'An edit takes files: give {artifact} or {file}, not an address.';
        return { kind: 'unreadable', issue: { field, message } };
      }
      if (!resolved.file.mediaType.startsWith('image/')) {
        return {
          kind: 'unreadable',
          issue: { field, message: 'An edit takes images only; this file is none by its bytes.' },
        };
      }
      if ('file' in source) fileHashes.set(source.file, resolved.file.sha256);
      if (field === 'mask') mask = resolved.file;
      else files.push(resolved.file);
    }
  }
  const lookup = await deps.models.lookup(paid.request.model, 'image');
  if (lookup.found === 'unavailable') return { kind: 'unavailable', message: lookup.message, fileHashes };
  const { issues, validated } = validateAgainstModel(paid, lookup);
  if (issues[0] !== undefined) return { kind: 'invalid', issue: issues[0], fileHashes };
  if (missing !== undefined) return { kind: 'missing', missing, fileHashes };
  const model = lookup.found === 'entry' ? (lookup.entry as ImageModel) : undefined;
  const wire =
    paid.operation === 'edit_image'
      ? wireEditBody(paid.request, files, mask)
      : wireGenerationBody(paid.request);
  if (!wire.ok) return { kind: 'invalid', issue: wire.issues[0] ?? UNSENDABLE, fileHashes };
  return {
    kind: 'ready',
    body: wire.body,
    estimate: estimateFor(paid, model),
    budgetMs: requestBudgetMs('image', model),
    idempotency: model?.idempotency,
    warnings: validated ? [] : [NOT_VALIDATED],
    fileHashes,
  };
}
