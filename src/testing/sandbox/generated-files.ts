import { type ImageSpec } from './media-spec';

/** An image that can be fetched below {base_url}/generated/ until it expires (contract 2.5). */
export interface GeneratedFile {
  name: string;
  spec: ImageSpec;
  /** Unix time in milliseconds. */
  createdAt: number;
}
