import { Runtime } from '@temporalio/worker';
import { type AccountSet, openAccounts } from '../accounts/account-set';
import { type AccountOptions } from '../accounts/accounts-file';
import { type MediaConfig } from '../config';

/** The accounts of a worker, of the configuration and of code. @throws ConfigurationError where there is none */
export function openWorkerAccounts(
  config: MediaConfig,
  accounts: readonly AccountOptions[] | undefined,
): AccountSet {
  return openAccounts({
    config,
    accounts,
    warn: (message) => {
      Runtime.instance().logger.warn(message);
    },
  });
}
