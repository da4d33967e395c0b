import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { type ManifestIssue } from '../../domain/campaign/plan';
import { artifactUri } from '../../domain/media';
import { type PlanSink } from '../../manifest/page-writer';
import { type Report } from '../report';

const NOTHING = '0'.repeat(64);
const KEPT = { uri: artifactUri(NOTHING), mediaType: 'application/octet-stream', bytes: 0, sha256: NOTHING };

/** Takes what a plan writes and keeps nothing of it; with `-o jsonl` every issue of the manifest becomes an event. */
export function issueSink(report: Report): PlanSink {
  return {
    putBuffer: async () => KEPT,
    putStream: async (source) => {
      // Only issues come as a stream.
      for await (const line of createInterface({ input: Readable.from(source) })) {
        const issue = JSON.parse(line) as ManifestIssue;
        report.event('issue', issue);
      }
      return KEPT;
    },
  };
}
