// What callers do with the rows of a campaign is theirs; which line of a row counts is ours.
export { latestResults as campaignRows } from '../../manifest/results';
