import { artifacts } from './artifacts';
import { binding } from './binding';
import { type Check } from './check';
import { journal } from './journal';
import { models } from './models';
import { namespaceCheck } from './namespace';
import { nodeVersion } from './node-version';
import { oneSdk } from './one-sdk';
import { proxy } from './proxy';
import { service } from './service';
import { settings } from './settings';
import { temporalServer } from './temporal-server';
import { waiting } from './waiting';
import { workers } from './workers';

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
  // Late: most of what fails before it also keeps a worker from starting, and is then the reason.
  workers,
  waiting,
];
