import { createHmac, timingSafeEqual } from 'node:crypto';

/** Makes and checks the expiring links of the media origin. */
export class LinkSigner {
  constructor(private readonly secret: string) {}

  /** Query string for a path, valid until `expires` (Unix time in milliseconds). */
  sign(path: string, expires: number): string {
    return `expires=${expires}&signature=${this.signature(path, expires)}`;
  }

  check(path: string, query: URLSearchParams, now: number): 'valid' | 'expired' | 'invalid' {
    const expires = Number(query.get('expires'));
    const given = Buffer.from(query.get('signature') ?? '');
    const wanted = Buffer.from(this.signature(path, expires));
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return 'invalid';
    return expires >= now ? 'valid' : 'expired';
  }

  private signature(path: string, expires: number): string {
    return createHmac('sha256', this.secret).update(`${path}\n${expires}`).digest('base64url');
  }
}
