/** A span as people read it: `0:07`, `12:45`, `3:02:45`, `2 d 3:02:45`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  const days = Math.floor(seconds / 86_400);
  const clock = hours > 0 || days > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${days > 0 ? `${days} d ` : ''}${clock}:${two(seconds % 60)}`;
}
