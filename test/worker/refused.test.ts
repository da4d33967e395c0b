import '../support/quiet-temporal';
import {
  type BundleOptions,
  bundleWorkflowCode,
  DefaultLogger,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { MediaPlugin } from '../../src/plugin';
import { readConfig } from '../../src/settings/config';
import { createMediaWorker, WorkerSetupError } from '../../src/worker';
import { sharedStack } from '../support/shared-stack';
import { testBundle } from '../support/test-bundle';
import { prebuilt, USERS_WORKFLOWS, usersWorker } from './support/users-worker';

const CLASHING = require.resolve('./users/clashing-workflows');

describe('a worker that cannot be put together is refused when it is made', () => {
  const stack = sharedStack({}, async () => undefined);

  async function refusal(options: Partial<WorkerOptions>, media = {}): Promise<string> {
    const users = usersWorker(await stack(), 'refused', media);
    const making = Worker.create({ ...users.options, plugins: [users.media], ...options });
    const error: unknown = await making.then(
      async (worker) => worker.runUntil(Promise.resolve()),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(WorkerSetupError);
    return (error as Error).message;
  }

  it('for activities of the same name', async () => {
    const activities = { 'media.pollVideos': async () => 'mine', other: async () => 'mine' };
    const message = await refusal({ activities });
    expect(message).toContain('media.pollVideos');
    expect(message).not.toContain('other');
  });

  it('for workflows of the same name, bundled with the worker or beforehand', async () => {
    expect(await refusal({ workflowsPath: CLASHING })).toContain('generateVideo');
    const bundling = prebuilt(CLASHING, [new MediaPlugin()]);
    await expect(bundling).rejects.toThrow(WorkerSetupError);
    await expect(bundling).rejects.toThrow(/same name as temporal-media workflows: generateVideo\./);
  });

  it('for a prebuilt bundle without our workflows, with what to do', async () => {
    const message = await refusal({ workflowBundle: await prebuilt(USERS_WORKFLOWS, []) });
    expect(message).toContain('generateVideo, awaitVideo');
    expect(message).toContain('plugins: [media]');
  });

  it('where it would be given tasks of ours that it lacks', async () => {
    const withWorkflows = await refusal(
      { workflowsPath: USERS_WORKFLOWS, activities: {} },
      { serve: ['create', 'poll'] },
    );
    expect(withWorkflows).toMatch(/has its own workflows .* does not serve "workflows"/);
    const withActivities = await refusal({ workflowsPath: USERS_WORKFLOWS }, { serve: ['workflows'] });
    expect(withActivities).toMatch(/has its own activities .* does not serve "create"/);
  });

  it('for what it serves, its version, or an address that is missing, by the name of the setting', async () => {
    const { server, env } = await stack();
    const { MEDIA_BASE_URL: _none, ...rest } = env;
    const { nativeConnection: connection, namespace } = server;
    const common = { connection, namespace, config: readConfig(rest) };
    await expect(createMediaWorker(common)).rejects.toThrow(/^MEDIA_BASE_URL: is not set/);
    await expect(createMediaWorker({ ...common, serve: ['download'] })).rejects.toThrow(/^MEDIA_BASE_URL/);
    await expect(createMediaWorker({ ...common, serve: [] })).rejects.toThrow(
      /^serve: must name one or more of workflows/,
    );
    expect(() => readConfig({ MEDIA_SERVE: 'create,polls' })).toThrow(
      /^MEDIA_SERVE: .*"polls" is not one of them/,
    );
    const made = (env: NodeJS.ProcessEnv) =>
      Worker.create({ connection, namespace, taskQueue: 'q', plugins: [new MediaPlugin({ env })] });
    await expect(made({ ...env, MEDIA_SERVE: 'polls' })).rejects.toThrow(/^MEDIA_SERVE: must name/);
    await expect(made({ ...env, MEDIA_DEPLOYMENT: 'films' })).rejects.toThrow(/^MEDIA_DEPLOYMENT: must be/);
  });

  it('createMediaWorker: for activities of the same name', async () => {
    const { server, config } = await stack();
    const { nativeConnection: connection, namespace } = server;
    const making = createMediaWorker({
      connection,
      namespace,
      config: { ...config, taskQueue: server.uniqueId('clash') },
      workflows: { workflowBundle: await testBundle() },
      activities: { 'media.createVideo': async () => 'mine' },
    });
    await expect(making).rejects.toThrow(WorkerSetupError);
  });

  it('a plugin after ours that replaces the workflows is found out', async () => {
    const replacing = {
      name: 'replaces',
      configureBundler: <T extends object>(options: T): T => ({ ...options, workflowsPath: CLASHING }),
    };
    const users = usersWorker(await stack(), 'replaced');
    const bundling = bundleWorkflowCode({
      workflowsPath: USERS_WORKFLOWS,
      plugins: [users.media, replacing],
      logger: new DefaultLogger('ERROR'),
    });
    await expect(bundling).rejects.toThrow(/lacks temporal-media workflows/);
  });

  it('a hook after ours that drops the aliases is found out: their workflows would be missing', async () => {
    const dropping = {
      name: 'drops',
      configureBundler: (options: BundleOptions): BundleOptions => ({
        ...options,
        webpackConfigHook: (config) => {
          const made = options.webpackConfigHook?.(config) ?? config;
          return { ...made, resolve: { ...made.resolve, alias: config.resolve?.alias ?? {} } };
        },
      }),
    };
    const users = usersWorker(await stack(), 'dropped');
    const bundling = bundleWorkflowCode({
      workflowsPath: USERS_WORKFLOWS,
      plugins: [users.media, dropping],
      logger: new DefaultLogger('ERROR'),
    });
    await expect(bundling).rejects.toThrow(/keeps `resolve.alias`/);
  });
});
