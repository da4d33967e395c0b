/** `2026-11-21 19:04:05 UTC`; null for none, the text itself for what is no time. */
export function timeText(iso: string | null): string | null {
  if (iso === null) return null;
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `1 h 2 min`, `3 min 4 s`, `5.6 s`; null when one end is not known. */
export function spanText(from: string | null, to: string | null): string | null {
  const ms = from === null || to === null ? NaN : Date.parse(to) - Date.parse(from);
  if (!(ms >= 0)) return null;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
