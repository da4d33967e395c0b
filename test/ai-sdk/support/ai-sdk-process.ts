import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type MediaStack } from '../../support/media-stack';

/** What a call of the AI SDK returned or threw. */
export interface AiSdkReply {
  readonly files?: readonly { readonly mediaType: string; readonly sha256: string }[];
  readonly status?: string;
  readonly error?: string;
  readonly operation?: string;
  readonly warnings?: readonly object[];
  readonly providerMetadata?: { readonly temporalMedia: Readonly<Record<string, unknown>> };
  readonly threw?: { readonly name: string; readonly message: string; readonly attempts: number };
}

export interface AiSdkProcess {
  readonly child: ChildProcess;
  call(
    call: 'generateVideo' | 'startVideo' | 'getVideoStatus' | 'generateImage',
    model: string,
    options: object,
  ): Promise<AiSdkReply>;
  stop(): Promise<void>;
}

/** Starts a process with the AI SDK and this package's models. It gets no key and no service address. */
export async function startAiSdk(
  { server, taskQueue, config }: MediaStack,
  address = server.address,
): Promise<AiSdkProcess> {
  const { namespace } = server;
  const { artifacts, dataDir } = config;
  const child = fork(
    path.join(__dirname, 'ai-sdk-child.mjs'),
    [JSON.stringify({ address, namespace, taskQueue, artifacts, dataDir })],
    { env: { PATH: process.env['PATH'] }, execArgv: [] },
  );
  const ended = once(child, 'exit');
  const replies = new Map<number, (reply: AiSdkReply) => void>();
  let calls = 0;
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message: { readonly number?: number }) => {
      if (message.number === undefined) resolve();
      else replies.get(message.number)?.(message as AiSdkReply);
    });
    void ended.then(([code]) => reject(new Error(`The process ended with ${String(code)}.`)));
  });
  return {
    child,
    call: (call, model, options) =>
      new Promise((resolve) => {
        const number = (calls += 1);
        replies.set(number, resolve);
        child.send({ number, call, model, options });
      }),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
