/** A warning when other workers have served the queue with accounts that this one lacks; undefined otherwise. */
export function accountsOfOthers(accounts: readonly string[], own: readonly string[]): string | undefined {
  const others = accounts.filter((account) => !own.includes(account));
  if (others.length === 0) return undefined;
  return (
    `The task queue also had workers for ${others.join(', ')}, and this one serves ${own.join(', ')} only. What belongs to those accounts ` +
    'waits for a worker that serves them. Accounts that are still used need workers that have them: give this worker their accounts too (MEDIA_ACCOUNTS), or start others.'
  );
}
