import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxModels } from '../../../packages/sandbox/src';
import { dialectOf } from '../../../packages/sandbox/src/options';

const page = readFileSync(join(__dirname, '../../../docs/sandbox.md'), 'utf8');

test('docs/sandbox.md tells the dialect of every video model', () => {
  const told = page
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, , , , status]) => /^\d{3}$/.test(status ?? ''))
    .map((cells) => cells.slice(1, 5));
  const models = sandboxModels.models.filter((one) => one.kind === 'video');
  expect(told).toEqual(
    models.map(({ id }) => {
      const { statusWords, errors, failedPollStatus } = dialectOf(id);
      const { queued, in_progress, completed, failed } = statusWords;
      const words = [queued, in_progress, completed, failed].map((word) => `\`${word}\``).join(', ');
      return [`\`${id}\``, words, `\`${errors}\``, String(failedPollStatus)];
    }),
  );
});
