/**
 * Signed notices (webhooks) about the calls of media workers, for people and chats. For processes that have the journal
 * or check bills.
 *
 * @module
 */
export {
  announceBills,
  type BillsDiffer,
  endpointProblems,
  type EndpointTest,
  testEndpoints,
} from './announce';
export { type NotifyEndpoint, notifySchema } from './endpoints';
export { type Notice, NOTICE_TYPES, type NoticePlace, type NoticeType, type NoticeValue } from './notice';
export { configuredEndpoints, type NoticesOptions, type RunningNotices, startNotices } from './start-notices';
