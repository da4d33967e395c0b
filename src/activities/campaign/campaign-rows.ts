// Exported for callers that read the rows of a campaign: it knows which line of a row counts.
export { latestResults as campaignRows } from '../../manifest/results';
