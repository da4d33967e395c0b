/**
 * Writes a campaign's tables and gallery to a folder, and packs them as a zip file: the API behind `temporal-media
 * campaign report`.
 *
 * @module
 */
export { type ReportFacts, type ReportOptions, type ReportSummary } from './report-options';
export { type ResultRecord } from './page-rows';
export { writeReport } from './write-report';
export { zipReport } from './zip-report';
