'use strict';
// Checks one file in a process of its own, whose memory a test limits: prints the check as JSON.
const { readFileSync } = require('node:fs');
const { transformSync } = require('@swc/core');

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  module._compile(code, filename);
};

const { checkVideo } = require('../../../src/stores/artifacts/video-check.ts');

checkVideo(process.argv[2]).then((check) => process.stdout.write(JSON.stringify(check)));
