import { onInterruption } from '../../packages/cli/src/shared/interruption';

/** Properties of the process as they are elsewhere, until `restore`. */
function elsewhere(changes: readonly [target: object, name: string, value: unknown][]): () => void {
  const before = changes.map(
    ([target, name]) => [target, name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  for (const [target, name, value] of changes)
    Object.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true });
  return () => {
    for (const [target, name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, descriptor);
    }
  };
}

const streams = [process.stdin, process.stdout, process.stderr] as const;
const terminals = (isTTY: boolean) =>
  streams.map((stream) => [stream, 'isTTY', isTTY] as [object, string, boolean]);

async function endsAt(signal: NodeJS.Signals): Promise<boolean> {
  const interruption = onInterruption();
  const caught = process.listenerCount(signal) > 0;
  if (caught) {
    process.emit(signal);
    await interruption.happened;
  }
  interruption.dispose();
  expect(process.listenerCount(signal)).toBe(0);
  return caught;
}

describe('what ends a command', () => {
  let restore: () => void = () => undefined;
  afterEach(() => restore());

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s, where it has a terminal', async (signal) => {
    restore = elsewhere(terminals(true));
    expect(await endsAt(signal)).toBe(true);
  });

  test('no SIGHUP without a terminal: `nohup` has chosen to outlive it', async () => {
    restore = elsewhere(terminals(false));
    expect(await endsAt('SIGHUP')).toBe(false);
  });

  test.each(['SIGHUP', 'SIGBREAK'] as const)('%s on Windows, with or without a terminal', async (signal) => {
    restore = elsewhere([[process, 'platform', 'win32'], ...terminals(false)]);
    expect(await endsAt(signal)).toBe(true);
  });

  test('a parent that let go of it before it listened', async () => {
    restore = elsewhere([
      [process, 'send', () => true],
      [process, 'connected', false],
      [process.env, 'TEMPORAL_MEDIA_ATTACHED', '1'],
    ]);
    const interruption = onInterruption();
    await interruption.happened;
    interruption.dispose();
  });
});
