import { TestWorkflowEnvironment } from '@temporalio/testing';
import '../support/quiet-temporal';
import { describeWhere } from './support/programs';
import { timeSkippingServer } from './support/time-skipping-server';

const describe = describeWhere('The time-skipping server', () => void timeSkippingServer());

describe('examples/testing/time-skipping.ts, on the server of Maven Central', () => {
  const create = TestWorkflowEnvironment.createTimeSkipping.bind(TestWorkflowEnvironment);
  const path = (): string => timeSkippingServer();
  beforeAll(() => {
    // The SDK would download the same server from a host that not every network reaches.
    jest
      .spyOn(TestWorkflowEnvironment, 'createTimeSkipping')
      .mockImplementation(() => create({ server: { executable: { type: 'existing-path', path: path() } } }));
  });
  afterAll(() => jest.restoreAllMocks());

  // It defines its test where it is loaded.
  // eslint-disable-next-line typescript/no-require-imports
  require('../../examples/testing/time-skipping');
});
