/**
 * Tables and a gallery of a campaign in a folder, and the same as a zip file: what `temporal-media campaign report` writes,
 * for programs.
 *
 * @module
 */
export { type ReportFacts, type ReportOptions, type ReportSummary } from './report-options';
export { type ResultRecord } from './page-rows';
export { writeReport } from './write-report';
export { zipReport } from './zip-report';
