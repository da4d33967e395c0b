import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { refuseUnregistered } from '../../src/client/options';

describe('a start that the server refuses', () => {
  it('says what to do about a search attribute that the namespace lacks', () => {
    const cause = new Error('Namespace default has no mapping defined for search attribute MediaModel');
    expect(() => refuseUnregistered(new Error('Failed to start Workflow', { cause }))).toThrow(
      /does not have the search attribute MediaModel.*temporal-media setup.*Nothing was started/,
    );
  });

  it('is what it was for every other reason, whatever the id of the workflow is', () => {
    const taken = new WorkflowExecutionAlreadyStartedError(
      'taken: MediaModel-1',
      'MediaModel-1',
      'generateVideo',
    );
    const down = new Error('the server is away');
    for (const error of [taken, down]) expect(() => refuseUnregistered(error)).toThrow(error);
  });
});
