import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as historyCodec from '../../packages/replay/src/history-codec';
import '../support/quiet-temporal';
// Each defines its tests here.
import '../../examples/testing/outcomes';
import '../../examples/testing/fake-workflows';
import '../../examples/testing/sandbox';
import '../../examples/testing/replay';

// Two copies of protobufjs lie beside each other here, and with them the SDK reads no history (packages/replay/src/history-codec.ts).
jest.mock('@temporalio/common/lib/proto-utils', () => ({
  ...jest.requireActual<object>('@temporalio/common/lib/proto-utils'),
  historyFromJSON: jest.requireActual<typeof historyCodec>('../../packages/replay/src/history-codec')
    .historyFromJson,
}));

const ROOT = join(__dirname, '..', '..');

// The examples look for a server, as those of users do; this run has one.
process.env['TEMPORAL_ADDRESS'] ??= process.env['TEST_TEMPORAL_ADDRESS'];
process.env['TEMPORAL_NAMESPACE'] ??= process.env['TEST_TEMPORAL_NAMESPACE'];

// `npm run verify:languages` runs time-skipping.ts, which wants a server of another maker.
const SHOWN = ['outcomes', 'test-workflows', 'fake-workflows'];
const LINKED = ['time-skipping', 'sandbox', 'replay'];

const page = readFileSync(join(ROOT, 'docs', 'testing-your-workflows.md'), 'utf8');

test.each(SHOWN)('docs/testing-your-workflows.md shows examples/testing/%s.ts as it is', (name) => {
  expect(page).toContain(
    '```ts\n' + readFileSync(join(ROOT, 'examples', 'testing', `${name}.ts`), 'utf8') + '```',
  );
});

test.each(LINKED)('docs/testing-your-workflows.md links to examples/testing/%s.ts', (name) => {
  expect(page).toContain(`](../examples/testing/${name}.ts)`);
});
