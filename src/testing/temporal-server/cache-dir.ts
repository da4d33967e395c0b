import { homedir } from 'node:os';
import path from 'node:path';
import { TEMPORAL_CLI_VERSION } from './cli-version';
import { type Environment } from './source';

/** Directory that holds our built or downloaded `temporal` of the pinned version. */
export function cliCacheDir(env: Environment, platform: NodeJS.Platform = process.platform): string {
  return path.join(userCacheDir(env, platform), 'temporal-media', 'cli', TEMPORAL_CLI_VERSION);
}

/** File name of the executable on this platform. */
export function executableName(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? 'temporal.exe' : 'temporal';
}

function userCacheDir(env: Environment, platform: NodeJS.Platform): string {
  // The XDG rules say that a relative path is to be ignored.
  const xdg = env['XDG_CACHE_HOME'];
  if (xdg && path.isAbsolute(xdg)) return xdg;
  const local = env['LOCALAPPDATA'];
  if (platform === 'win32' && local) return local;
  return path.join(env['HOME'] || homedir(), '.cache');
}
