// Activities for use with a campaign: one finds the earlier results for its id, one publishes its rows.
import { type Client } from '@temporalio/client';
import { type ResultsRef } from 'temporal-media';
import { type ArtifactStore, campaignRows } from 'temporal-media/activities';
import { CampaignNotFoundError, TemporalMediaClient } from 'temporal-media/client';

export type CampaignActivities = ReturnType<typeof campaignActivities>;

/** @param store the media workers' artifact store: `new FileArtifactStore(MEDIA_ARTIFACTS)` */
export function campaignActivities(client: Client, store: ArtifactStore, mediaQueue: string) {
  const media = new TemporalMediaClient(client, { taskQueue: mediaQueue });
  return {
    /** Returns null if the id was never used. */
    async earlierResults(id: string): Promise<ResultsRef | null> {
      try {
        return await media.campaigns.results(id);
      } catch (error) {
        if (error instanceof CampaignNotFoundError) return null;
        throw error;
      }
    },

    /** Publishes each completed row. `campaignRows` yields only the final result of each row. */
    async publishFilms(results: ResultsRef): Promise<string[]> {
      const published: string[] = [];
      for await (const { key, outcome, artifacts } of campaignRows(store, results))
        if (outcome === 'completed') published.push(`${key} ${artifacts[0]?.uri}`);
      return published;
    },
  };
}
