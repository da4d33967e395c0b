import multipart from '@fastify/multipart';
import fastify, { type FastifyInstance } from 'fastify';
import { addAdminRoutes } from './admin-routes';
import { addImageRoutes } from './image-routes';
import { createMediaOrigin } from './media-origin';
import { openExchanges } from './exchange';
import { SandboxCore, serverOptions } from './sandbox-core';
import { resolveSandboxOptions, type SandboxOptions } from './options';
import { addVideoRoutes } from './video-routes';

/** Addresses of a running sandbox, all without a trailing slash. */
export interface SandboxAddresses {
  /** Base address of the service, path prefix included. */
  url: string;
  /** The second origin, which serves signed links. */
  mediaUrl: string;
  /** The live model configuration document. */
  modelsUrl: string;
  /** The address that `SandboxAdmin` uses. */
  adminUrl: string;
}

/** A sandbox that runs in this process. */
export interface Sandbox extends SandboxAddresses {
  /** Stops both servers and destroys stalled connections. */
  close(): Promise<void>;
}

/** Starts the service of the contract in this process, on two ports of the loopback interface. */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const resolved = resolveSandboxOptions(options);
  const core = new SandboxCore(resolved);
  const api = fastify(serverOptions);
  openExchanges(api, core, 'api');
  const limits = { fileSize: serverOptions.bodyLimit, fieldSize: serverOptions.bodyLimit, files: 1000 };
  await api.register(multipart, { limits, ...{ preservePath: true } });
  await api.register(
    async (scope) => {
      addVideoRoutes(scope, core);
      addImageRoutes(scope, core);
      addAdminRoutes(scope, core);
    },
    { prefix: resolved.pathPrefix },
  );
  const media = createMediaOrigin(core);
  const close = async (): Promise<void> => {
    await Promise.all([shut(api), shut(media)]);
    await core.close();
  };
  try {
    core.url = (await api.listen({ port: resolved.port, host: resolved.host })) + resolved.pathPrefix;
    core.mediaUrl = await media.listen({ port: resolved.mediaPort, host: resolved.host });
  } catch (error) {
    await close();
    throw error;
  }
  const adminUrl = `${core.url}/_sandbox`;
  return { url: core.url, mediaUrl: core.mediaUrl, modelsUrl: `${adminUrl}/models.json`, adminUrl, close };
}

async function shut(app: FastifyInstance): Promise<void> {
  await app.close();
  app.server.closeAllConnections();
}
