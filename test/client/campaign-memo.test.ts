import { CAMPAIGN_MEMO, campaignMemo } from '../../src/client/campaign-records';
import { type MediaSource } from '../../src/domain/request';

describe('the memo of a campaign', () => {
  const sha256 = 'a'.repeat(64);
  const stored: MediaSource = {
    artifact: { uri: `artifact:sha256/${sha256}`, mediaType: 'text/csv', bytes: 1, sha256 },
  };

  it('keeps what it was started with, so that its id is enough to take it up again', () => {
    const input = { manifest: { source: stored }, concurrency: 5 };
    expect(campaignMemo(input)[CAMPAIGN_MEMO]).toEqual(input);
  });

  it.each<MediaSource>([
    { url: 'https://files.example/rows.csv?X-Amz-Signature=canary' },
    { file: '/home/canary/rows.csv' },
  ])(
    '[C5.4b] [C5.4c] holds no address and no path, which everybody who lists workflows would read',
    (source) => {
      const memo = campaignMemo({ manifest: { source } });
      expect(JSON.stringify(memo)).not.toContain('canary');
      expect(Object.keys(memo)).toHaveLength(1);
    },
  );
});
