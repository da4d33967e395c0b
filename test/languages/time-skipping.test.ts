import { TestWorkflowEnvironment } from '@temporalio/testing';
import '../support/quiet-temporal';
import { describeWhere } from './support/programs';
import { timeSkippingServer } from './support/time-skipping-server';

const describe = describeWhere('The time-skipping server', () => void timeSkippingServer());

describe('examples/testing/time-skipping.ts, on the server of Maven Central', () => {
  const create = TestWorkflowEnvironment.createTimeSkipping.bind(TestWorkflowEnvironment);
  const start = (): ReturnType<typeof create> =>
    create({ server: { executable: { type: 'existing-path', path: timeSkippingServer() } } });
  beforeAll(() => {
    // The SDK would download the same server from a host that not every network reaches. It gives a server five seconds to
    // start, which Java does not always need less than on a busy machine.
    jest
      .spyOn(TestWorkflowEnvironment, 'createTimeSkipping')
      .mockImplementation(() => start().catch(start).catch(start));
  });
  afterAll(() => jest.restoreAllMocks());

  // It defines its test where it is loaded.
  // eslint-disable-next-line typescript/no-require-imports
  require('../../examples/testing/time-skipping');
});
