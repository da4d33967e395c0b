import { given, type JsonValue } from '../domain/json';
import { type ReportedFacts } from '../domain/poll-answers';
import { type ArtifactRef } from '../domain/request';
import { type VideoTask } from '../domain/video-task';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';
import { type DownloadedVideo } from './fetch-video';

export interface SidecarInput {
  readonly video: VideoTask;
  readonly downloaded: DownloadedVideo;
  readonly reported: ReportedFacts;
  readonly usage: JsonValue | undefined;
  readonly warnings: readonly string[];
  readonly timings: DownloadTimings;
  readonly prompt: string | undefined;
}

/** The JSON file beside a video, containing what the worker knows about it. */
export interface VideoSidecar {
  readonly v: 1;
  readonly task: VideoTask;
  readonly artifact: ArtifactRef;
  /** Facts from the file itself, or null for a container that is recognized only by its first bytes. */
  readonly media: DownloadedVideo['facts'];
  readonly reported: ReportedFacts;
  /** The usage as reported by the service. Null if it reported none, which does not mean a cost of 0. */
  readonly usage: JsonValue;
  readonly warnings: readonly string[];
  readonly timings: DownloadTimings;
  /** Present only if the caller requested it. */
  readonly prompt?: string;
}

/** When a download was scheduled, started and finished, ISO 8601. */
export interface DownloadTimings {
  readonly scheduledAt: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly tries: number;
}

/**
 * Stores a video's facts beside it (architecture: Stores). They never contain a key or a signed URL, and contain the
 * prompt only on request.
 */
export async function storeSidecar(artifacts: ArtifactStore, input: SidecarInput): Promise<ArtifactRef> {
  const { video, downloaded, reported, usage, warnings, timings, prompt } = input;
  const { sha256, bytes, mediaType, uri } = downloaded.artifact;
  const document: VideoSidecar = {
    v: 1,
    task: video,
    artifact: { uri, sha256, bytes, mediaType },
    media: downloaded.facts,
    reported,
    usage: usage ?? null,
    warnings,
    timings,
    ...given({ prompt }),
  };
  return artifacts.putBuffer(Buffer.from(`${JSON.stringify(document, null, 2)}\n`), {
    mediaType: 'application/json',
  });
}

/** Tolerated difference in seconds: containers round to whole frames, and the audio may be slightly longer. */
const DURATION_TOLERANCE_S = 0.75;

/** Returns the differences between the request, the service's report and the file. A difference is never an error. */
export function factWarnings(
  video: VideoTask,
  reported: ReportedFacts,
  facts: DownloadedVideo['facts'],
): string[] {
  const found: string[] = [];
  const { durationSeconds, resolution, model } = video;
  const durations = { reported: reported.durationSeconds, file: facts?.durationSeconds };
  for (const [source, seconds] of Object.entries(durations))
    if (durationSeconds !== null && seconds !== undefined && differs(durationSeconds, seconds))
      found.push(`Requested duration ${durationSeconds} s, ${source} ${seconds} s.`);
  if (resolution !== null && reported.resolution !== undefined && !sameWord(resolution, reported.resolution))
    found.push(`Requested resolution ${resolution}, reported ${reported.resolution}.`);
  if (model !== null && reported.model !== undefined && model !== reported.model)
    found.push(`Requested model ${model}, reported ${reported.model}.`);
  const lines = /^(\d{3,4})p$/i.exec(resolution ?? '')?.[1];
  if (lines !== undefined && facts !== null && Math.min(facts.width, facts.height) !== Number(lines))
    found.push(`Requested resolution ${resolution}, file ${facts.width}x${facts.height}.`);
  return found;
}

const differs = (a: number, b: number) => Math.abs(a - b) > DURATION_TOLERANCE_S;
const sameWord = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
