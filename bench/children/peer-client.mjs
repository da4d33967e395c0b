// One video by another client, in a process of its own: `openai` 7 and the AI SDK 7 need Node 22. It runs from a copy beside
// their packages (bench/peers.js) and prints one line of JSON.
import { createHash } from 'node:crypto';
import { clearTimeout, setTimeout } from 'node:timers';

const { client, url, timeoutMs, giveUpMs, download } = JSON.parse(process.argv[2]);
const apiKey = 'sandbox-key';
const prompt = 'a cat on a roof';

/** Each makes one video with the client's own means and defaults; with `download` its bytes. */
const CLIENTS = {
  async openai(signal) {
    const { default: OpenAI } = await import('openai');
    const openai = new OpenAI({ apiKey, baseURL: `${url}/v1`, timeout: timeoutMs, logLevel: 'off' });
    const { id } = await openai.videos.create({ model: 'cine-1', prompt, seconds: '4' }, { signal });
    if (!download) return undefined;
    while ((await openai.videos.retrieve(id)).status !== 'completed')
      await new Promise((resolve) => setTimeout(resolve, 200));
    const content = await openai.videos.downloadContent(id, {}, { signal });
    return new Uint8Array(await content.arrayBuffer());
  },
  async 'ai-sdk'(signal) {
    const [ai, { createLLMGateway }] = await Promise.all([
      import('ai'),
      import('@llmgateway/ai-sdk-provider'),
    ]);
    globalThis.AI_SDK_LOG_WARNINGS = false;
    const model = createLLMGateway({ apiKey, baseURL: `${url}/v1` }).video('cine-1');
    // Its one way to a video: it starts, polls and downloads.
    const { video } = await ai.experimental_generateVideo({
      model,
      prompt,
      duration: 4,
      abortSignal: signal,
      poll: { intervalMs: 200, timeoutMs: giveUpMs },
    });
    return video.uint8Array;
  },
};

const deadline = new globalThis.AbortController();
const end = await new Promise((resolve) => {
  const timer = setTimeout(() => {
    resolve({ outcome: 'hung' });
    deadline.abort();
  }, giveUpMs);
  CLIENTS[client](deadline.signal)
    .then(
      (bytes) => ({
        outcome: 'returned',
        bytes: bytes?.length ?? 0,
        sha256: bytes === undefined ? null : sha256(bytes),
      }),
      (error) => ({
        outcome: 'threw',
        error: error?.name ?? 'unknown',
        message: String(error?.message).slice(0, 200),
      }),
    )
    .then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
});

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

process.stdout.write(`${JSON.stringify(end)}\n`, () => process.exit(0));
