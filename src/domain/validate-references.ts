import { type VideoReference } from './media';
import { type ReferenceMapping } from './model-config';
import { type ValidationIssue } from './validation-issue';

export interface ReferenceValidation {
  readonly issues: readonly ValidationIssue[];
  /** Wire fields that the references take. */
  readonly used: readonly string[];
}

/** The mapping of one reference; undefined when there is none or it is ambiguous. Never assumed (C2.1.5). */
export function mappingOf(
  reference: VideoReference,
  mappings: readonly ReferenceMapping[],
): ReferenceMapping | undefined {
  const candidates = mappings.filter(
    ({ kind, field }) =>
      kind === reference.kind && (reference.field === undefined || field === reference.field),
  );
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** Checks references against a model's mappings: field, form and number (C2.1.4, C2.1.5, C8.1). */
export function validateReferences(
  references: readonly VideoReference[],
  mappings: readonly ReferenceMapping[],
): ReferenceValidation {
  const issues: ValidationIssue[] = [];
  const taken = new Map<ReferenceMapping, number>();
  references.forEach((reference, index) => {
    const mapping = mappingOf(reference, mappings);
    if (mapping === undefined) {
      issues.push(withoutMapping(reference, index, mappings));
      return;
    }
    taken.set(mapping, (taken.get(mapping) ?? 0) + 1);
    if (mapping.form === 'url' && !isRemote(reference))
      issues.push({
        field: `references[${index}].source`,
        message: `This model takes ${reference.kind} references as URLs only: a file or an artifact has none.`,
      });
  });
  return {
    issues: [...issues, ...counts(taken)],
    used: [...new Set([...taken.keys()].map(({ field }) => field))],
  };
}

function withoutMapping(
  reference: VideoReference,
  index: number,
  mappings: readonly ReferenceMapping[],
): ValidationIssue {
  const fields = mappings.filter(({ kind }) => kind === reference.kind).map(({ field }) => field);
  if (fields.length === 0)
    return {
      field: `references[${index}].kind`,
      message: `This model takes no ${reference.kind} references.`,
      allowed: [...new Set(mappings.map(({ kind }) => kind))],
    };
  return {
    field: `references[${index}].field`,
    message:
      reference.field === undefined
        ? `This model has more than one field for ${reference.kind} references: name one.`
        : `This model has no such field for ${reference.kind} references.`,
    allowed: fields,
  };
}

function counts(taken: ReadonlyMap<ReferenceMapping, number>): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const [{ kind, field, max }, count] of taken)
    if (max !== undefined && count > max)
      issues.push({ field: 'references', message: `At most ${max} ${kind} references go into ${field}.` });
  // A text holds one value, whatever kinds share it.
  const fields = new Set(
    [...taken.keys()].filter(({ shape }) => shape === 'string').map(({ field }) => field),
  );
  for (const name of fields) {
    const sum = [...taken].reduce((total, [{ field }, count]) => total + (field === name ? count : 0), 0);
    if (sum > 1) issues.push({ field: 'references', message: `${name} takes one reference.` });
  }
  return issues;
}

function isRemote({ source }: VideoReference): boolean {
  return 'url' in source && /^https?:/i.test(source.url);
}
