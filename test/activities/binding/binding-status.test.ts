import { type Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { bindJournal, JournalBindingError } from '../../../src/activities/binding/bind-journal';
import { bindingChecker } from '../../../src/activities/binding/binding-status';
import { BINDING_CACHE_MS, type CreateJournal } from '../../../src/domain/journal';
import { type ArtifactStore } from '../../../src/stores/artifacts/artifact-store';

jest.mock('../../../src/activities/binding/bind-journal', () => ({
  ...jest.requireActual<object>('../../../src/activities/binding/bind-journal'),
  bindJournal: jest.fn(),
}));

/** What a worker knows of the binding of its queue is used for a while: as long as every rebind waits to be heard. */
describe('the queue binding that a worker knows', () => {
  const bind = jest.mocked(bindJournal);
  const clocks = { steady: 0, wall: Date.parse('2026-05-01T10:00:00.000Z') };
  const client = { withAbortSignal: <T>(_signal: AbortSignal, run: () => T) => run() };
  const environment = new MockActivityEnvironment({}, { client: client as unknown as Client });

  beforeEach(() => {
    bind.mockReset().mockResolvedValue({
      binding: { journalId: 'j', hostId: null },
      boundSince: new Date(0).toISOString(),
      artifacts: null,
      accounts: [],
      mark: null,
    });
    jest.spyOn(performance, 'now').mockImplementation(() => clocks.steady);
    jest.spyOn(Date, 'now').mockImplementation(() => clocks.wall);
  });
  afterEach(() => jest.restoreAllMocks());

  const pass = (steadyMs: number, wallMs = steadyMs): void => {
    clocks.steady += steadyMs;
    clocks.wall += wallMs;
  };
  const checkBinding = bindingChecker({} as CreateJournal, {} as ArtifactStore, () => []);
  const asks = async (): Promise<number> => {
    const before = bind.mock.calls.length;
    const answer = await environment.run(() => checkBinding());
    expect(answer).toMatchObject({ bound: true, journalId: 'j' });
    return bind.mock.calls.length - before;
  };

  it('is used within the time in which a rebind is heard, and not after it', async () => {
    expect(await asks()).toBe(1);
    pass(BINDING_CACHE_MS - 1);
    expect(await asks()).toBe(0);
    pass(1);
    expect(await asks()).toBe(1);
  });

  it('[C4.4a] is not used by a worker whose machine was suspended meanwhile', async () => {
    pass(BINDING_CACHE_MS);
    expect(await asks()).toBe(1);
    pass(1, BINDING_CACHE_MS);
    expect(await asks()).toBe(1);
  });

  it('is not used for longer because the clock of the worker was set back', async () => {
    pass(BINDING_CACHE_MS);
    expect(await asks()).toBe(1);
    pass(BINDING_CACHE_MS, -BINDING_CACHE_MS);
    expect(await asks()).toBe(1);
  });

  it('[C4.4a] is not used for longer because the binding cannot be read: the queue may have another journal by now', async () => {
    expect(await asks()).toBe(0);
    pass(BINDING_CACHE_MS);
    const message = 'The queue binding cannot be read: the server does not answer.';
    bind.mockRejectedValue(new JournalBindingError(message, { cause: new Error('unavailable') }));
    expect(await environment.run(() => checkBinding())).toEqual({ bound: false, message });
  });
});
