// Adds the codec from encryption.ts. Every client and worker needs the same keys.
import { Client, type ClientOptions } from '@temporalio/client';
import { type WorkerOptions } from '@temporalio/worker';
import { createMediaWorker, type MediaWorkerOptions } from 'temporal-media/worker';
import { encrypted } from './encryption';
import { filmWorker } from './plugin/worker';

export const encryptedClient = (options: ClientOptions) =>
  new Client({ ...options, dataConverter: encrypted() });

export const encryptedMediaWorker = (options: MediaWorkerOptions) =>
  createMediaWorker({ ...options, worker: { ...options.worker, dataConverter: encrypted() } });

/** The worker from examples/plugin: Worker.create({ plugins: [new MediaPlugin()], dataConverter, … }). */
export const encryptedFilmWorker = (options: Partial<WorkerOptions>, env = process.env) =>
  filmWorker({ ...options, dataConverter: encrypted() }, env);
