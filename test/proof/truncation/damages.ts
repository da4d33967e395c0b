import { allBoxes, type NestedBox } from './boxes';

export interface Damage {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Boxes without which there is no picture: a wrong size of any of them loses samples or the tables. */
const VITAL = /^(ftyp|moov|mdat|moov\/trak|moov\/trak\/mdia|moov\/trak\/mdia\/minf|.*\/stbl)$/;
const TABLES = /\/(stsz|stco|stsc)$/;

/** A good file with one number changed, in such a way that no player could show all of it. */
export function damagesOf(whole: Buffer): Damage[] {
  const boxes = allBoxes(whole);
  return [
    ...boxes.filter(({ path }) => VITAL.test(path)).flatMap((box) => sizesOf(whole, box)),
    ...boxes.filter(({ path }) => TABLES.test(path)).flatMap((box) => tablesOf(whole, box)),
  ];
}

function sizesOf(whole: Buffer, { path, start, end }: NestedBox): Damage[] {
  const size = end - start;
  const top = !path.includes('/');
  const last = end === whole.length;
  const sizes: [string, number][] = [
    ['1 less', size - 1],
    ['8 less', size - 8],
    ['half', Math.floor(size / 2)],
    ['2', 2],
    ['7', 7],
    ['8', 8],
    ['the most', 0xffffffff],
    ['the sign', 0x80000000 + size],
    ...(top
      ? ([
          ['1 more', size + 1],
          ['12 more', size + 12],
          ['1 MiB more', size + 1048576],
        ] as [string, number][])
      : []),
    // To the end of the file: that is what it is already for the last one.
    ...(top && !last ? ([['0', 0]] as [string, number][]) : []),
  ];
  const long: [string, bigint][] = [
    ['0', 0n],
    ['15', 15n],
    ['2^53', 2n ** 53n],
    ['2^63', 2n ** 63n],
    ['2^64 - 1', 2n ** 64n - 1n],
    // Ends that come out at or near the file's beginning when they are added in 64 bits.
    ['back to 0', (2n ** 64n - BigInt(start)) % 2n ** 64n],
    ['back to 8', (2n ** 64n - BigInt(start) + 8n) % 2n ** 64n],
  ];
  return [
    ...sizes.map(([word, value]) =>
      changed(whole, `${path} of size ${word}`, (b) => b.writeUInt32BE(value, start)),
    ),
    ...long.map(([word, value]) =>
      changed(whole, `${path} of 64-bit size ${word}`, (b) => {
        b.writeUInt32BE(1, start);
        b.writeBigUInt64BE(value, start + 8);
      }),
    ),
    changed(whole, `${path} of no type`, (b) => b.fill(0, start + 4, start + 8)),
  ];
}

function tablesOf(whole: Buffer, { path, body, end }: NestedBox): Damage[] {
  const count = path.endsWith('stsz') ? body + 8 : body + 4;
  const first = count + 4;
  const made = [
    changed(whole, `${path} claims four billion`, (b) => b.writeUInt32BE(0xffffffff, count)),
    changed(whole, `${path} claims two million`, (b) => b.writeUInt32BE(2_000_000, count)),
    changed(whole, `${path} is empty`, (b) => b.writeUInt32BE(0, count)),
  ];
  if (path.endsWith('stco') && first + 4 <= end)
    made.push(
      changed(whole, `${path} points behind the file`, (b) => b.writeUInt32BE(whole.length, first)),
      changed(whole, `${path} points far away`, (b) => b.writeUInt32BE(0xfffffff0, first)),
      changed(whole, `${path} points at the first byte`, (b) => b.writeUInt32BE(0, first)),
    );
  if (path.endsWith('stsz') && first + 4 <= end)
    made.push(
      changed(whole, `${path} has a huge sample`, (b) => b.writeUInt32BE(0x7fffffff, first)),
      changed(whole, `${path} has a sample of the file's size`, (b) => b.writeUInt32BE(whole.length, first)),
    );
  return made;
}

function changed(whole: Buffer, name: string, change: (bytes: Buffer) => void): Damage {
  const bytes = Buffer.from(whole);
  change(bytes);
  return { name, bytes };
}
