import {
  pollsForNewWork,
  type QueueView,
  STALE_POLL_MS,
  versionText,
  type WorkerVersion,
} from '../../client/queue-view';
import { shellWord } from '../text';
import { failed, type Finding } from './check';

/** The command that gives new work to a version. */
export function makeCurrent({ deploymentName, buildId }: WorkerVersion): string {
  return `\`temporal worker deployment set-current-version --deployment-name ${shellWord(deploymentName)} --build-id ${shellWord(buildId)}\``;
}

/**
 * Reports workers that poll and get no new work, because it is given to another version; undefined when a worker gets
 * it, or none polls. @param now milliseconds since the Unix epoch
 */
export function checkVersions(view: QueueView, taskQueue: string, now: number): Finding | undefined {
  const isFresh = (at: number): boolean => now - at <= STALE_POLL_MS;
  if (pollsForNewWork(view).some(isFresh)) return undefined;
  const waiting = view.pollers.filter(({ at }) => isFresh(at));
  const [idle] = waiting.flatMap(({ version }) => version ?? []);
  const [current] = view.current;
  if (idle === undefined) {
    if (current === undefined || waiting.length === 0) return undefined;
    return failed(
      'no_worker',
      `The current version of the task queue "${taskQueue}" is ${versionText(current)}, and only workers without a version poll it: nothing new is given to them.`,
      `Start a worker of ${versionText(current)}, or give new work to workers without a version: \`temporal worker deployment set-current-version --deployment-name ${shellWord(current.deploymentName)} --unversioned\`.`,
    );
  }
  const polling = `Workers of the version ${versionText(idle)} poll the task queue "${taskQueue}"`;
  return current === undefined
    ? failed(
        'no_worker',
        `${polling}, but no version is current: nothing new is given to them.`,
        `Make it current: ${makeCurrent(idle)}.`,
      )
    : failed(
        'no_worker',
        `${polling}, but ${versionText(current)} is current and no worker of it polls: nothing new goes on.`,
        `Start a worker of ${versionText(current)}, or make the other one current: ${makeCurrent(idle)}.`,
      );
}
