/**
 * Sends a video's progress to browsers as server-sent events, in any framework with standard requests and responses.
 *
 * @module
 */
export { progressEvents, type ProgressEventsOptions } from './event-stream';
export { type VideoProgressEvent } from './shared-watch';
