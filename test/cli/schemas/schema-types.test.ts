import { expectTypeOf } from 'expect-type';
import { type z } from 'zod';
import { type createPolicySchema } from '../../../src/config';
import { type storeSidecar } from '../../../src/activities/download-sidecar';
import { type Billing } from '../../../src/domain/price';
import { type CreatePolicy } from '../../../src/domain/create-policy';
import { type JsonValue } from '../../../src/domain/json';
import { type ArtifactRef } from '../../../src/domain/request';
import { type ManifestIssue } from '../../../src/domain/campaign/plan';
import { type CampaignResult, type CampaignState } from '../../../src/domain/campaign/campaign-state';
import { type ModelConfiguration } from '../../../src/domain/model-config';
import { type ImageOutcome, type VideoOutcome } from '../../../src/domain/outcome';
import { type VideoState } from '../../../src/domain/video-state';
import { type LeftRunning } from '../../../src/cli/answer-left';
import { type CheckReport } from '../../../src/cli/doctor/check';
import { type Reply } from '../../../src/cli/report';
import { type CampaignEstimate } from '../../../src/cli/campaign/run';
import {
  type campaignEstimate,
  type campaignResult,
  type campaignRow,
  type campaignState,
} from '../../../src/cli/schemas/campaign';
import { type faults } from '../../../src/cli/schemas/faults';
import {
  type imageOutcome,
  type imageSidecar,
  type videoOutcome,
  type videoSidecar,
  type videoState,
} from '../../../src/cli/schemas/outcomes';
import { type leftRunning } from '../../../src/cli/schemas/left-running';
import { type event, type reply } from '../../../src/cli/schemas/schemas';
import { type modelConfigurationSchema } from '../../../src/models/schema';
import { type ResultRecord } from '../../../src/report/result-record';
import { type FaultRule } from '../../../src/testing/sandbox/faults';

/** The same type without readonly, and in one piece: a schema writes no intersections. JSON stays as it is. */
type Plain<T> = [JsonValue] extends [T]
  ? T
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { -readonly [Name in keyof T]: Plain<T[Name]> }
      : T;

type Sidecar = Parameters<typeof storeSidecar>[1];

test('every schema is equal to the type that it describes: a new or changed field does not compile', () => {
  expectTypeOf<Plain<z.infer<typeof videoOutcome>>>().toEqualTypeOf<Plain<VideoOutcome>>();
  expectTypeOf<Plain<z.infer<typeof imageOutcome>>>().toEqualTypeOf<Plain<ImageOutcome>>();
  expectTypeOf<Plain<z.infer<typeof videoState>>>().toEqualTypeOf<Plain<VideoState>>();
  expectTypeOf<Plain<z.infer<typeof leftRunning>>>().toEqualTypeOf<Plain<LeftRunning>>();
  expectTypeOf<Plain<z.infer<typeof modelConfigurationSchema>>>().toEqualTypeOf<Plain<ModelConfiguration>>();
  expectTypeOf<Plain<z.infer<typeof campaignState>>>().toEqualTypeOf<Plain<CampaignState>>();
  expectTypeOf<Plain<z.infer<typeof campaignResult>>>().toEqualTypeOf<Plain<CampaignResult>>();
  expectTypeOf<Plain<z.infer<typeof campaignEstimate>>>().toEqualTypeOf<Plain<CampaignEstimate>>();
  expectTypeOf<Plain<z.infer<typeof campaignRow>>>().toEqualTypeOf<Plain<ResultRecord>>();
  expectTypeOf<Plain<z.infer<typeof faults>>>().toEqualTypeOf<Plain<FaultRule[]>>();
});

test('optional knobs: what a schema lets pass is the type', () => {
  expectTypeOf<keyof z.infer<typeof createPolicySchema>>().toEqualTypeOf<keyof CreatePolicy>();
  expectTypeOf<CreatePolicy>().toExtend<z.infer<typeof createPolicySchema>>();
});

test('replies, events and side-car files hold the parts that the code gives them', () => {
  expectTypeOf<Plain<Omit<z.infer<typeof reply>, 'data'>>>().toEqualTypeOf<Plain<Omit<Reply, 'data'>>>();
  type Event<Type> = Extract<z.infer<typeof event>, { type: Type }>;
  expectTypeOf<Plain<Event<'state'>['state']>>().toEqualTypeOf<Plain<VideoState>>();
  expectTypeOf<Plain<Event<'campaign'>['state']>>().toEqualTypeOf<Plain<CampaignState>>();
  expectTypeOf<Plain<Omit<Event<'issue'>, 'v' | 'type' | 'at'>>>().toEqualTypeOf<Plain<ManifestIssue>>();
  expectTypeOf<CheckReport>().toExtend<Omit<Event<'check'>, 'v' | 'type' | 'at'>>();
  type Video = z.infer<typeof videoSidecar>;
  expectTypeOf<Plain<Video['task']>>().toEqualTypeOf<Plain<Sidecar['video']>>();
  expectTypeOf<Plain<Video['media']>>().toEqualTypeOf<Plain<Sidecar['downloaded']['facts']>>();
  expectTypeOf<Plain<Video['reported']>>().toEqualTypeOf<Plain<Sidecar['reported']>>();
  expectTypeOf<Plain<Video['timings']>>().toEqualTypeOf<Plain<Sidecar['timings']>>();
  type Image = z.infer<typeof imageSidecar>;
  expectTypeOf<Plain<Image['images'][number]>>().toEqualTypeOf<Plain<ArtifactRef & { file: string }>>();
  expectTypeOf<Plain<Image['billing']>>().toEqualTypeOf<Plain<Billing>>();
});
