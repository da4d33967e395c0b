import { type JsonValue } from './json';
import { type ArtifactRef } from './media';
import { type ReportedFacts } from './poll-answers';
import { type VideoTask } from './video-task';

export interface DownloadVideoInput {
  readonly video: VideoTask;
  /** Written into the side-car only when the caller asked for it (architecture: Stores). */
  readonly sidecarPrompt?: string;
}

/** Why a completed video could not be fetched (architecture: Download). */
export type ContentUnavailableReason =
  'not_ready' | 'expired' | 'not_video' | 'truncated' | 'auth' | 'blocked' | 'storage';

export type DownloadVideoResult =
  | {
      readonly outcome: 'downloaded';
      readonly artifact: ArtifactRef;
      /** Side-car JSON of the kept facts, as an artifact of its own. */
      readonly sidecar: ArtifactRef | null;
      readonly reported: ReportedFacts;
      readonly usage?: JsonValue;
      readonly warnings: readonly string[];
    }
  | {
      readonly outcome: 'content_unavailable';
      readonly reason: ContentUnavailableReason;
      readonly message: string;
      readonly tries: number;
      /** The refused bytes, kept for a person to look at. */
      readonly rejected: ArtifactRef | null;
      readonly httpStatus?: number;
    };
