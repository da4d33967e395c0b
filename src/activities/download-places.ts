import { type VideoReading } from '../service/media-client';
import { type MediaClient } from '../service/media-client';

/** Where a video may be, in the order in which the places are tried (C4.1). */
export interface ContentPlace {
  readonly kind: 'content' | 'url' | 'data';
  readonly url: URL;
  /** Of the service's own origin: what it says about waiting holds for this place too. */
  readonly own: boolean;
}

/** The content endpoint first, then the record's URLs; a place is never tried twice. */
export function contentPlaces(
  client: MediaClient,
  taskId: string,
  resultUrls: VideoReading['resultUrls'],
): ContentPlace[] {
  const { origin } = new URL(client.baseUrl);
  const places: ContentPlace[] = [];
  const content = attempt(() => client.contentUrl(taskId));
  if (content !== undefined) places.push({ kind: 'content', url: content, own: true });
  for (const text of resultUrls) {
    const url = attempt(() => new URL(text));
    if (url === undefined || places.some((place) => place.url.href === url.href)) continue;
    if (url.protocol === 'data:') places.push({ kind: 'data', url, own: true });
    else if (/^https?:$/.test(url.protocol)) places.push({ kind: 'url', url, own: url.origin === origin });
  }
  return places;
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
