/** Work that starts when it is its turn: at most `limit` at a time, in the order given. */
export function pool(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let busy = 0;
  const next = (): void => {
    if (busy >= limit) return;
    const start = waiting.shift();
    if (start === undefined) return;
    busy += 1;
    start();
  };
  return (work) =>
    new Promise((resolve, reject) => {
      waiting.push(() => {
        void work()
          .then(resolve, reject)
          .finally(() => {
            busy -= 1;
            next();
          });
      });
      next();
    });
}
