import { type ImageOutcome, type VideoOutcome, type DecidedEntry } from 'temporal-media';

type Evidence = Extract<VideoOutcome | ImageOutcome, { outcome: 'unconfirmed' }>['evidence'];

/** `name: value` of each known fact of an unconfirmed create; a person uses them to find the task (C4.4c). */
export function evidenceLines(evidence: Evidence): string[] {
  const lines: string[] = [];
  for (const [name, value] of Object.entries<string | number | object | null>({ ...evidence })) {
    if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) continue;
    lines.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  return lines;
}

/** Who decided what about a call of unknown fate, when and why. */
export function decidedText({ decision, taskId, by, at, reason }: DecidedEntry): string {
  return `${decision}${taskId === null ? '' : ` ${taskId}`} by ${by} at ${at}: ${reason}`;
}
