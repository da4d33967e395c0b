import { type Fault } from './fault-table';
import { type Toxic } from './toxiproxy';

const both = (type: Toxic['type'], attributes: Toxic['attributes']): readonly Toxic[] => [
  { type, stream: 'upstream', attributes },
  { type, stream: 'downstream', attributes },
];

/** Networks that change nothing but the time and the packets: every fault keeps its class behind them. */
export const SLOW: readonly Toxic[] = [
  ...both('latency', { latency: 30, jitter: 20 }),
  ...both('bandwidth', { rate: 16_000 }),
  { type: 'slicer', stream: 'upstream', attributes: { average_size: 1000, size_variation: 500, delay: 0 } },
  { type: 'slicer', stream: 'downstream', attributes: { average_size: 64, size_variation: 32, delay: 0 } },
  ...both('slow_close', { delay: 150 }),
];

/** Networks that lose: what is asked of them is only that no law is broken. */
export const LOSSY: readonly Toxic[] = [
  ...both('timeout', { timeout: 150 }),
  ...both('reset_peer', { timeout: 0 }),
  ...both('reset_peer', { timeout: 30 }),
  ...both('limit_data', { bytes: 10 }),
  ...both('limit_data', { bytes: 100 }),
  ...both('limit_data', { bytes: 300 }),
];

/** Faults that a proxy in between can pass on: not those of connecting itself, nor of a connection that is idle. */
export function passesOn({ does, raced }: Fault): boolean {
  const { nobody, proxy, before } = does;
  return [nobody, proxy, before, raced].every((given) => given === undefined);
}

/** The class of a word, without its cause. */
export function classOnly(word: string): string {
  return /^[CNRU](?= |$)/.exec(word)?.[0] ?? word;
}
