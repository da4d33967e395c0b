import { type QueryDefinition, type UpdateDefinition } from '@temporalio/common';
import { type Documents } from '../../../packages/cli/src/schema/command';
import { QUERY, UPDATE, type WORKFLOW } from '../../../src/domain';
import {
  type adoptRowUpdate,
  type adoptUpdate,
  type campaignStateQuery,
  type cancelUpdate,
  type declareLostUpdate,
  type declareRowLostUpdate,
  type pauseUpdate,
  type raiseBudgetUpdate,
  type resubmitUpdate,
  type resumeRowsUpdate,
  type resumeUpdate,
  type setConcurrencyUpdate,
  type setPriorityUpdate,
  type videoStateQuery,
  type waitsQuery,
} from '../../../src/workflows';
import type * as workflows from '../../../src/workflows';

/**
 * Which schema describes which message of the workflows that other programs start. The compiler refuses a name whose
 * document has another type than the message, and a workflow, query or Update that is missing.
 */

/** Names of the documents of this very type. */
type NameOf<T> = {
  [Name in keyof Documents]: [T, Documents[Name]] extends [Documents[Name], T] ? Name : never;
}[keyof Documents];

/** Null for a workflow or an Update that takes nothing. */
type ArgumentOf<Args extends readonly unknown[]> = Args extends [] ? null : NameOf<Args[0]>;

/** Of the package itself: a campaign starts its batches, videos their watcher. */
type Internal = typeof WORKFLOW.campaignBatch | typeof WORKFLOW.watchVideos;
type PublicWorkflow = Exclude<(typeof WORKFLOW)[keyof typeof WORKFLOW], Internal>;

export const WORKFLOW_MESSAGES: {
  readonly [Name in PublicWorkflow]: {
    readonly input: ArgumentOf<Parameters<(typeof workflows)[Name]>>;
    readonly result: NameOf<Awaited<ReturnType<(typeof workflows)[Name]>>>;
  };
} = {
  generateVideo: { input: 'generate-video-input', result: 'video-outcome' },
  awaitVideo: { input: 'await-video-input', result: 'video-outcome' },
  generateImage: { input: 'generate-image-input', result: 'image-outcome' },
  editImage: { input: 'edit-image-input', result: 'image-outcome' },
  findVideoTask: { input: 'find-video-task-input', result: 'found-video-task' },
  artifactStore: { input: null, result: 'artifact-store' },
  resolveUnconfirmed: { input: 'resolve-unconfirmed-input', result: 'resolve-unconfirmed-result' },
  reviewJournal: { input: 'review-journal-input', result: 'review-journal-page' },
  runCampaign: { input: 'run-campaign-input', result: 'campaign-result' },
};

interface Query {
  readonly name: (typeof QUERY)[keyof typeof QUERY];
  readonly of: readonly PublicWorkflow[];
  readonly result: keyof Documents;
}

type ReplyOf<Definition> =
  Definition extends QueryDefinition<infer Reply, infer _Args, infer _Name> ? NameOf<Reply> : never;

const videoState: ReplyOf<typeof videoStateQuery> = 'video-state';
const campaignState: ReplyOf<typeof campaignStateQuery> = 'campaign-state';
const waits: ReplyOf<typeof waitsQuery> = 'waits';

export const QUERY_MESSAGES: readonly Query[] = [
  { name: QUERY.videoState, of: ['generateVideo', 'awaitVideo'], result: videoState },
  { name: QUERY.campaignState, of: ['runCampaign'], result: campaignState },
  {
    name: QUERY.waits,
    of: ['generateVideo', 'awaitVideo', 'generateImage', 'editImage', 'runCampaign'],
    result: waits,
  },
];

interface Update {
  readonly name: (typeof UPDATE)[keyof typeof UPDATE];
  readonly of: PublicWorkflow;
  readonly argument: keyof Documents | null;
  readonly result: keyof Documents;
}

type SentTo<Definition> =
  Definition extends UpdateDefinition<infer Result, infer Args, infer _Name>
    ? {
        readonly argument: ArgumentOf<Args>;
        readonly result: NameOf<Result>;
      }
    : never;

const adopt: SentTo<typeof adoptUpdate> = { argument: 'video-adopt', result: 'resolve-unconfirmed-result' };
const declareLost: SentTo<typeof declareLostUpdate> = {
  argument: 'video-declare-lost',
  result: 'resolve-unconfirmed-result',
};
const resubmit: SentTo<typeof resubmitUpdate> = {
  argument: 'video-resubmit',
  result: 'resolve-unconfirmed-result',
};
const pause: SentTo<typeof pauseUpdate> = { argument: null, result: 'campaign-update-result' };
const resume: SentTo<typeof resumeUpdate> = { argument: null, result: 'campaign-update-result' };
const cancel: SentTo<typeof cancelUpdate> = { argument: null, result: 'campaign-update-result' };
const setConcurrency: SentTo<typeof setConcurrencyUpdate> = {
  argument: 'campaign-set-concurrency',
  result: 'campaign-update-result',
};
const setPriority: SentTo<typeof setPriorityUpdate> = {
  argument: 'campaign-set-priority',
  result: 'campaign-update-result',
};
const raiseBudget: SentTo<typeof raiseBudgetUpdate> = {
  argument: 'campaign-raise-budget',
  result: 'campaign-update-result',
};
const resumeRows: SentTo<typeof resumeRowsUpdate> = {
  argument: 'campaign-resume-rows',
  result: 'campaign-update-result',
};
const adoptRow: SentTo<typeof adoptRowUpdate> = {
  argument: 'campaign-adopt',
  result: 'campaign-update-result',
};
const declareRowLost: SentTo<typeof declareRowLostUpdate> = {
  argument: 'campaign-declare-lost',
  result: 'campaign-update-result',
};

export const UPDATE_MESSAGES: readonly Update[] = [
  { name: UPDATE.adopt, of: 'generateVideo', ...adopt },
  { name: UPDATE.declareLost, of: 'generateVideo', ...declareLost },
  { name: UPDATE.resubmit, of: 'generateVideo', ...resubmit },
  { name: UPDATE.pause, of: 'runCampaign', ...pause },
  { name: UPDATE.resume, of: 'runCampaign', ...resume },
  { name: UPDATE.cancel, of: 'runCampaign', ...cancel },
  { name: UPDATE.setConcurrency, of: 'runCampaign', ...setConcurrency },
  { name: UPDATE.setPriority, of: 'runCampaign', ...setPriority },
  { name: UPDATE.raiseBudget, of: 'runCampaign', ...raiseBudget },
  { name: UPDATE.resumeRows, of: 'runCampaign', ...resumeRows },
  { name: UPDATE.adopt, of: 'runCampaign', ...adoptRow },
  { name: UPDATE.declareLost, of: 'runCampaign', ...declareRowLost },
];
