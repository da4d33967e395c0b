import { type VideoTask } from '../../domain/video-task';

/**
 * Values that most rows of a batch have in common, each kept once: what activities answer is read anew for every row, and
 * a batch holds hundreds of them. There are as many as a campaign has models, accounts and prices.
 */
export class SharedValues {
  private readonly known = new Map<string, unknown>();

  /** A value that is equal, as JSON, to every other one that was asked for with the same content. */
  of<T extends string | object | null>(value: T): T {
    if (value === null) return value;
    const key = JSON.stringify(value);
    if (!this.known.has(key)) this.known.set(key, value);
    return this.known.get(key) as T;
  }

  task(video: VideoTask): VideoTask {
    // Named one by one: an object that is copied by a spread takes half as much again.
    return {
      taskId: video.taskId,
      model: this.of(video.model),
      durationSeconds: video.durationSeconds,
      resolution: this.of(video.resolution),
      referenceMode: this.of(video.referenceMode),
      account: this.of(video.account),
      polling: this.of(video.polling),
      createdAt: video.createdAt,
      source: this.of(video.source),
    };
  }
}
