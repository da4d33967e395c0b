import { PNG } from 'pngjs';
import { type SandboxRequest } from '../../../packages/sandbox/src';
import { type CreateJournal } from '../../../src/activities';
import { type ArtifactRef } from '../../../src/domain';
import { openArtifactStore } from '../../../src/stores';
import { type MediaStack } from '../../support/media-stack';
import { journalAt } from '../../support/store-places';
import { startFlakyWorker, type FlakyWorker } from './flaky-worker';

/** What all schedules of one stack share. */
export interface Bench {
  readonly stack: MediaStack;
  /** What edits change. */
  readonly reference: ArtifactRef;
  readonly flaky: FlakyWorker;
  /** The journal of all workers of the stack. */
  readonly journal: CreateJournal;
  /** Requests so far; many schedules look at once, so that one answer serves all of them for a moment. */
  requests(freshness?: 'fresh'): Promise<readonly SandboxRequest[]>;
}

const FRESH_MS = 150;

export async function makeBench(stack: MediaStack): Promise<Bench> {
  const png = new PNG({ width: 64, height: 64 });
  png.data.fill(170);
  const store = await openArtifactStore(stack.config);
  const reference = await store.putBuffer(PNG.sync.write(png), { mediaType: 'image/png' });
  let asked: { readonly at: number; readonly answer: Promise<readonly SandboxRequest[]> } | undefined;
  return {
    stack,
    reference,
    flaky: await startFlakyWorker(stack),
    journal: await journalAt(stack.config.journal),
    requests: (freshness) => {
      if (freshness === 'fresh' || asked === undefined || Date.now() - asked.at > FRESH_MS)
        asked = { at: Date.now(), answer: stack.sandbox.admin.requests() };
      return asked.answer;
    },
  };
}
