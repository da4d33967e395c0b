import { type TemporalServerSource } from '../../packages/testing/src/temporal-server';
import { planLine, readyLine, SEARCH_LINES } from './server-cost';

const running: TemporalServerSource = {
  kind: 'address',
  address: '127.0.0.1:7233',
  namespace: 'default',
  foundBy: 'TEMPORAL_ADDRESS',
  connection: { apiKey: 'secret' },
};
const cached: TemporalServerSource = {
  kind: 'executable',
  path: '/x/temporal',
  version: '1',
  foundBy: 'cache',
};

it('says what each way costs before anything is looked for', () => {
  expect(SEARCH_LINES.join(' ')).toMatch(
    /TEMPORAL_ADDRESS.*nothing.*second.*download.*go install.*10 minutes/,
  );
});

it('says the way and its cost before the start, and the time after it', () => {
  expect(planLine(running)).toMatch(
    /127\.0\.0\.1:7233 \(TEMPORAL_ADDRESS\); nothing is started.*Expected: under/,
  );
  expect(planLine(running)).not.toContain('secret');
  expect(planLine(cached)).toMatch(/a new one in memory, CLI from cache.*Expected: 1 to 5 seconds/);
  expect(readyLine(cached, '127.0.0.1:1', 1234.5)).toBe(
    'Temporal server 127.0.0.1:1 (started, CLI from cache) in 1235 ms',
  );
});
