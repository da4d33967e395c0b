import { type JsonValue } from '../domain/json';
import { type ValidationIssue } from '../domain/validation-issue';

/** The JSON body of a video create or an image generation (C4.5, C4.6). */
export interface WireJsonBody {
  readonly kind: 'json';
  readonly json: { readonly [name: string]: JsonValue };
  /** Exactly the text that is sent. */
  readonly text: string;
  /** Lowercase hexadecimal SHA-256 of the UTF-8 bytes of `text`. */
  readonly bodyHash: string;
}

/** Bytes that the worker can read: a file of this machine, or a buffer. The path never leaves the worker. */
export type WireFileSource = { readonly path: string } | { readonly data: Uint8Array };

/** A file that is ready to be sent; the media type comes from its bytes (C2.5.5). */
export interface WireFile {
  readonly source: WireFileSource;
  readonly mediaType: string;
  /** Lowercase hexadecimal SHA-256 of the bytes. */
  readonly sha256: string;
  readonly bytes: number;
}

export type WirePart =
  | { readonly kind: 'text'; readonly name: string; readonly value: string }
  | { readonly kind: 'file'; readonly name: string; readonly fileName: string; readonly file: WireFile };

/** A multipart body: text parts first, files in the caller's order (contract 2.4). */
export interface WireMultipartBody {
  readonly kind: 'multipart';
  readonly parts: readonly WirePart[];
  /** Lowercase hexadecimal SHA-256 over part names, values and file hashes; no boundary and no path in it. */
  readonly bodyHash: string;
}

/** A body, or why there is none: nothing was sent. */
export type WireBuild<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };
