import { type Check, failed, ok } from './check';

/** Whether every MEDIA_* variable can be used, and address and key are there where a worker would need them. */
export const settings: Check = {
  name: 'settings',
  title: 'Settings',
  after: [],
  limitMs: 1_000,
  late: 'unexpected',
  run: async ({ problems, workerSide, service, env }) => {
    if (problems.length > 0) {
      const variables = problems.map(({ variable }) => variable).join(' and ');
      const message = problems.map(({ message: text }) => text).join(' ');
      return failed('configuration', message, `Correct ${variables} where the worker runs.`);
    }
    if (!workerSide || service === undefined)
      return ok('neither MEDIA_BASE_URL nor a key is set here: both are needed where the worker runs only');
    return ok(`service from ${service.from}, key from ${keySource(env)}`);
  },
};

function keySource(env: NodeJS.ProcessEnv): string {
  return env['MEDIA_API_KEY_FILE'] ? 'MEDIA_API_KEY_FILE' : 'MEDIA_API_KEY';
}
