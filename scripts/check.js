'use strict';
// `npm run check`: runs format, lint, types and a clean build concurrently, because they do not depend on each other.
// Prints each one's output when it has ended, so that outputs never mix. Exits with 1 if any of them fails, after all
// have ended.
const { Buffer } = require('node:buffer');
const { spawn } = require('node:child_process');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const CHECKS = [['lint'], ['types'], ['clean', 'build'], ['format']];

/** Runs one npm script, with npm's own file if it is known, because not every system can spawn `npm` directly. */
function run(script) {
  const npm = process.env.npm_execpath;
  const child =
    npm === undefined
      ? spawn('npm', ['run', '--silent', script], { cwd: root, shell: true })
      : spawn(process.execPath, [npm, 'run', '--silent', script], { cwd: root });
  const said = [];
  child.stdout.on('data', (chunk) => said.push(chunk));
  child.stderr.on('data', (chunk) => said.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ script, ok: code === 0, said: Buffer.concat(said).toString() }));
  });
}

async function inTurn(scripts) {
  for (const script of scripts) {
    const started = Date.now();
    const { ok, said } = await run(script);
    console.log(`${script}: ${ok ? 'ok' : 'FAILED'} (${Math.round((Date.now() - started) / 1000)} s)`);
    if (said.trim() !== '') console.log(said.trimEnd());
    if (!ok) return false;
  }
  return true;
}

async function main() {
  const all = await Promise.all(CHECKS.map(inTurn));
  if (!all.every(Boolean)) process.exitCode = 1;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
