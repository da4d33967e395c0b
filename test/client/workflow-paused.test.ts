import { failureOf } from '../../packages/cli/src/shared/errors';
import { requireUnpaused } from '../../src/client/workflow-handle';
import { situation } from '../../src/domain/advice';
import { shellWord } from '../../src/domain/terminal-text';

describe('a workflow that an operator has paused', () => {
  it('is asked nothing: the error names it, and its hint the command that lets it go on', () => {
    const refused = (): void => requireUnpaused('film-1', 'PAUSED');
    expect(refused).toThrow(/"film-1" is paused in Temporal/);
    let error: unknown;
    try {
      refused();
    } catch (thrown) {
      error = thrown;
    }
    expect(failureOf(error).reply).toMatchObject({
      type: 'workflow_paused',
      hint: expect.stringContaining('temporal workflow unpause') as string,
    });
  });

  it.each(['RUNNING', 'COMPLETED', 'TERMINATED'])('%s is not paused', (status) =>
    expect(() => requireUnpaused('film-1', status)).not.toThrow(),
  );

  it('is named in the command as a shell takes it', () => {
    expect(situation('paused', { ID: 'film 1' }, shellWord).text).toContain(
      "temporal workflow unpause --workflow-id 'film 1'",
    );
  });
});
