import { type ActiveRow } from '../../domain/campaign/messages';
import { type LaneRow } from './lane-row';

/** A row for a person who watches: no prompt, and a percentage only where the service sent one (C2.2.4). */
export function activeRow({ opened, phase, created, watch, startedAt }: LaneRow): ActiveRow {
  const progress = watch?.progress ?? null;
  return {
    key: opened.key,
    phase,
    taskId: created?.video.taskId ?? null,
    status: watch?.lastStatus ?? null,
    ...(progress !== null && { progress }),
    since: new Date(startedAt).toISOString(),
  };
}
