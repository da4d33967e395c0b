import { artifacts, journal, nodeVersion, oneSdk, settings } from './local';
import { binding, namespaceCheck, temporalServer, workers } from './temporal';
import { type Check } from './check';
import { models, proxy, service } from './service';
import { waiting } from './waiting';

/** Every check after those it depends on. The first that fails decides the exit code. */
export const CHECKS: readonly Check[] = [
  nodeVersion,
  oneSdk,
  settings,
  temporalServer,
  namespaceCheck,
  proxy,
  models,
  service,
  artifacts,
  journal,
  binding,
  // Late, because most earlier failures also keep a worker from starting and are then the reason.
  workers,
  waiting,
];
