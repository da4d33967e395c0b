'use strict';

const HEAD = `# The first ten minutes

This is a recorded session for readers who have never used Temporal, after [the installation](../README.md#install).
\`npm run first-ten-minutes\` types these commands into real terminals and writes this page, and a test compares the screens.
Ids, times and ports differ from run to run. \`…\` stands for omitted lines.
`;

/** Returns a recording's page: the text of each step, then its screen. */
function pageOf(recording) {
  const parts = recording.map(({ say, screen }) =>
    [say, '```console\n' + screen + '\n```'].filter((part) => part !== undefined).join('\n\n'),
  );
  return `${HEAD}\n${parts.join('\n\n')}\n`;
}

/** Removes what differs from run to run, so that two recordings of the same program are equal. */
function normalised(page) {
  return page
    .replace(/Using the Temporal (CLI|server).*/g, 'Using a Temporal server')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'ID')
    .replace(/\bvideo_[0-9a-f]+/g, 'video_ID')
    .replace(/@[0-9a-f]{8}\b/g, '@ID')
    .replace(/\b[0-9a-f]{12,64}\b/g, 'HASH')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/[█░]+/g, 'BAR')
    .replace(/\d+(\.\d+)*/g, 'N')
    .replace(/[ \t]+/g, ' ');
}

module.exports = { normalised, pageOf };
