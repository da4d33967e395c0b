// Activities beside a campaign: the earlier results of its id, and what to do with its rows.
import { type Client } from '@temporalio/client';
import { type ResultsRef } from 'temporal-media';
import { type ArtifactStore, campaignRows } from 'temporal-media/activities';
import { CampaignNotFoundError, TemporalMediaClient } from 'temporal-media/client';

export type CampaignActivities = ReturnType<typeof campaignActivities>;

/** @param store the artifact store of the media workers: `new FileArtifactStore(MEDIA_ARTIFACTS)` */
export function campaignActivities(client: Client, store: ArtifactStore, mediaQueue: string) {
  const media = new TemporalMediaClient(client, { taskQueue: mediaQueue });
  return {
    /** Null if the id was never used. */
    async earlierResults(id: string): Promise<ResultsRef | null> {
      try {
        return await media.campaigns.results(id);
      } catch (error) {
        if (error instanceof CampaignNotFoundError) return null;
        throw error;
      }
    },

    /** Publishes each completed row: one line per row, the one that counts. */
    async publishFilms(results: ResultsRef): Promise<string[]> {
      const published: string[] = [];
      for await (const { key, outcome, artifacts } of campaignRows(store, results))
        if (outcome === 'completed') published.push(`${key} ${artifacts[0]?.uri}`);
      return published;
    },
  };
}
