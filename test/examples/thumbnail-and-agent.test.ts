import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MockLanguageModelV3 } from 'ai/test';
import { imageSize } from 'image-size';
import { filmAgent } from '../../examples/film-agent';
import { thumbnailWorker } from '../../examples/thumbnail-activities';
import { type FilmWithThumbnail } from '../../examples/thumbnail-workflows';
import { openArtifactStore } from '../../src/stores';
import { accepted } from '../support/accepted';
import { type MediaStack, startMediaStack } from '../support/media-stack';

/** What a model answers, in order: a call of the tool with this prompt, or a text. */
type Turn = { readonly film: string } | { readonly text: string };

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A language model that answers so, and keeps what it was given. */
function modelOf(...turns: readonly Turn[]): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: turns.map((turn, n) => ({
      content:
        'film' in turn
          ? [
              {
                type: 'tool-call' as const,
                toolCallId: `call-${n}`,
                toolName: 'makeFilm',
                input: JSON.stringify({ prompt: turn.film }),
              },
            ]
          : [{ type: 'text' as const, text: turn.text }],
      finishReason: { unified: 'film' in turn ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
      usage: USAGE,
      warnings: [],
    })),
  });
}

describe('examples with libraries of others', () => {
  let stack: MediaStack;
  let stopWorker: () => Promise<void>;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } });
    const media = await thumbnailWorker({ ...process.env, ...stack.env });
    const running = media.run();
    stopWorker = async () => {
      media.shutdown();
      await running;
    };
  });
  afterAll(async () => {
    await stopWorker();
    await stack.stop();
  });

  it('a workflow makes a film as its child, and a picture of it by an activity of its own', async () => {
    const made = (await stack.server.client.workflow.execute('filmWithThumbnail', {
      taskQueue: stack.taskQueue,
      workflowId: stack.server.uniqueId('thumbnail'),
      args: ['a heron in the reeds'],
    })) as FilmWithThumbnail;
    expect(made).toMatchObject({ film: { outcome: 'completed' }, thumbnail: { mediaType: 'image/png' } });
    const store = await openArtifactStore(stack.config);
    const picture = await readFile(await store.localPath(made.thumbnail!));
    expect(imageSize(picture)).toMatchObject({ type: 'png', width: 160 });
    expect(await accepted(stack, 'a heron in the reeds')).toBe(1);
  });

  it('an agent buys the film of its order once: called again, run again, and with another prompt', async () => {
    const order = {
      id: stack.server.uniqueId('order'),
      wish: 'A film of a heron.',
      taskQueue: stack.taskQueue,
    };
    const { client } = stack.server;
    const same = { film: 'a heron takes off' };
    const first = modelOf(same, { film: 'two herons take off' }, { text: 'Here it is.' });
    const answer = await filmAgent(first, client, order);
    expect(answer.text).toBe('Here it is.');
    const [film, refused] = answer.steps.map(({ toolResults }) => toolResults[0]?.output as object);
    expect([film, refused]).toEqual([
      { film: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
      { none: 'This order already has a different film.' },
    ]);
    const again = await filmAgent(modelOf(same, { text: 'Still here.' }), client, order);
    expect(again.steps[0]?.toolResults[0]?.output).toEqual(film);
    expect([await accepted(stack, same.film), await accepted(stack, 'two herons take off')]).toEqual([1, 0]);
  });

  it.each(['thumbnail-activities', 'thumbnail-workflows', 'film-agent', 'bucket'])(
    'examples/%s.ts fits in 60 lines, and a page leads to it',
    async (name) => {
      const root = join(__dirname, '..', '..');
      const text = await readFile(join(root, 'examples', `${name}.ts`), 'utf8');
      expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
      const page = await readFile(join(root, 'docs', 'your-activities.md'), 'utf8');
      expect(page).toContain(`(../examples/${name}.ts)`);
    },
  );
});
