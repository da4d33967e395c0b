import { createFileJournal } from '../../src/stores/journal/file-journal';
import { answers } from '../domain/create-answers';
import { answerEntry, intentEntry } from '../support/log-entries';
import { startMediaStack } from '../support/media-stack';
import { replyOf, startCli } from './support/run-cli';

/** A server that was set back to an older copy knows nothing of what was bought since: the journal does. */
describe('status of an id that the server has forgotten', () => {
  test('[C4.4b] finds it in the journal of this machine by its key, and says what to do', async () => {
    const stack = await startMediaStack();
    try {
      const { namespace } = stack.server;
      const journal = createFileJournal({ root: stack.config.journal });
      await journal.identity();
      const bought = { namespace, creationKey: stack.server.uniqueId('bought') };
      const answer = answers.created(0);
      const intent = intentEntry(bought);
      const { workflowId, runId } = intent;
      await journal.append(bought, 0, intent);
      await journal.append(bought, 1, answerEntry(answer));
      await journal.indexTask({ v: 1, ...bought, sendAttempt: 0, workflowId, runId, video: answer.video });
      const open = { namespace, creationKey: stack.server.uniqueId('open') };
      await journal.append(open, 0, intentEntry(open));

      const found = replyOf(await startCli(['status', bought.creationKey, '-o', 'json'], stack.env).ended);
      expect(found.data).toMatchObject({
        foundBy: 'journal',
        creationKey: bought.creationKey,
        video: { taskId: answer.video.taskId },
        safe: expect.stringContaining(`resume ${answer.video.taskId}`) as string,
      });
      expect(JSON.stringify(found.data)).toContain('restored from an older copy');

      const unknown = replyOf(await startCli(['status', open.creationKey, '-o', 'json'], stack.env).ended);
      expect(unknown.data).toMatchObject({
        foundBy: 'journal',
        video: null,
        safe: expect.stringContaining('adopt its task, declare it lost or resubmit it') as string,
      });
    } finally {
      await stack.stop();
    }
  });
});
