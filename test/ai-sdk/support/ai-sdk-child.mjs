// The AI SDK's own functions with this package's models, in a process of its own: `ai` 7 is an ES module, which jest cannot
// load. Each message is one call; the reply is what a caller would see of it.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import temporalMediaAiSdk from '@temporal-media/ai-sdk';
import { Client, Connection } from '@temporalio/client';
import mediaClient from 'temporal-media/client';
import mediaStores from 'temporal-media/stores';

const { address, namespace, taskQueue, artifacts, dataDir } = JSON.parse(process.argv[2]);
// The version that the package names, which is not the one that the examples use.
const aiSdkPackage = path.resolve(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'packages',
  'ai-sdk',
  'package.json',
);
const ai = await import(pathToFileURL(createRequire(aiSdkPackage).resolve('ai')).href);
globalThis.AI_SDK_LOG_WARNINGS = false;

// Without interceptors, the client repeats no call by itself, so that the AI SDK does.
const connection = await Connection.connect({ address, interceptors: [] });
const provider = temporalMediaAiSdk.createTemporalMedia({
  media: new mediaClient.TemporalMediaClient(new Client({ connection, namespace }), { taskQueue }),
  store: await mediaStores.openArtifactStore({ artifacts, dataDir }),
});

const FUNCTIONS = {
  generateVideo: ['experimental_generateVideo', 'video'],
  startVideo: ['experimental_startVideo', 'video'],
  getVideoStatus: ['experimental_getVideoStatus', 'video'],
  generateImage: ['generateImage', 'image'],
};

async function perform({ call, model, options: { isAborted, ...given } }) {
  // A signal cannot be sent between processes.
  const options = { ...given, ...(isAborted && { abortSignal: globalThis.AbortSignal.abort() }) };
  const [name, kind] = FUNCTIONS[call];
  const media = provider[kind](model);
  const result = await (call === 'getVideoStatus'
    ? ai[name](media, options)
    : ai[name]({ model: media, ...options }));
  const files = [...(result.videos ?? []), ...(result.images ?? [])].map(
    ({ uint8Array, data = uint8Array, mediaType }) => ({
      mediaType,
      sha256: createHash('sha256').update(data).digest('hex'),
    }),
  );
  const { status, error, operation, warnings, providerMetadata } = result;
  return { files, status, error: error?.message ?? error, operation, warnings, providerMetadata };
}

process.on('message', ({ number, ...message }) => {
  void perform(message)
    .catch((error) => ({
      threw: { name: error.name, message: error.message, attempts: error.errors?.length ?? 1 },
    }))
    .then((reply) => process.send({ number, ...reply }));
});
process.send({ ready: true, node: process.versions.node });
