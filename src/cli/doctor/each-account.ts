import { type AccountFacts, type AccountsFinding, type Finding, skipped } from './check';

/** From bad to good: the worst decides. */
const STATES: readonly Finding['state'][] = ['failed', 'warning', 'skipped', 'ok'];

/**
 * Checks each account, all at once. Of several accounts the worst one decides, and the message names each; what was found
 * for one account alone is said as it is.
 */
export async function eachAccount(
  accounts: readonly AccountFacts[],
  check: (account: AccountFacts) => Promise<Finding>,
): Promise<AccountsFinding> {
  const found = await Promise.all(
    accounts.map(async (account) => ({ account: account.name, finding: await check(account) })),
  );
  const worst = STATES.flatMap((state) => found.filter(({ finding }) => finding.state === state))[0];
  if (worst === undefined) return skipped('settings');
  const each = found.map(({ account, finding: { state, message, ...rest } }) => ({
    account,
    state,
    message,
    ...('remedy' in rest && { remedy: rest.remedy }),
  }));
  if (found.length === 1) return { ...worst.finding, accounts: each };
  const message = found.map(({ account, finding }) => `${account}: ${finding.message}`).join(' ');
  const finding = { ...worst.finding, message, accounts: each };
  return 'remedy' in finding ? { ...finding, remedy: `${worst.account}: ${finding.remedy}` } : finding;
}
