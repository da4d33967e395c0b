'use strict';
// What runs once more with every payload in a bucket (TEST_PAYLOADS=s3), and what does not, with the reason.
const { allTestFiles, needOf } = require('./needs');

const FOLDERS = ['test/e2e/', 'test/cli/'];

/** Tests that show nothing then: whole files, or single ones by their titles. */
const INLINE = {
  'test/cli/codec-server.test.ts': 'has a codec of its own',
  'test/cli/data-converter.test.ts': 'has data converters of its own',
  'test/e2e/external-storage.test.ts': 'has a storage driver of its own',
  'test/e2e/payload-codec.test.ts': 'has a codec of its own',
  'test/e2e/standalone-images.test.ts': {
    'of the shell buys once': 'the Temporal CLI has no storage driver',
  },
  'test/e2e/traces.test.ts': 'has the worker of an example, without a storage driver',
};

/** The files that run. */
const files = () =>
  allTestFiles().filter(
    (file) =>
      FOLDERS.some((folder) => file.startsWith(folder)) &&
      needOf(file) === 'server' &&
      typeof INLINE[file] !== 'string',
  );

/** A pattern of the names of all tests but the single ones above. */
function names() {
  const single = Object.values(INLINE).flatMap((reason) =>
    typeof reason === 'string' ? [] : Object.keys(reason),
  );
  return `^(?!.*(?:${single.map((title) => title.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)).join('|')}))`;
}

module.exports = { INLINE, files, names };
