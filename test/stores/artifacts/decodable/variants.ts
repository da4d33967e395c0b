import { allBoxes, type NestedBox } from '../../../proof/truncation/boxes';
import { box, topLevel } from '../make-media';

type Variant = readonly [name: string, bytes: Buffer];

/** Bytes that programs and servers leave behind the end of a file. */
const TAILS: readonly Variant[] = [
  ['four zeros', Buffer.alloc(4)],
  ['a line end', Buffer.from('\n')],
  ['a kilobyte of zeros', Buffer.alloc(1024)],
  ['a tag of music', Buffer.from(`TAG${'Title'.padEnd(125)}`)],
  ['a page', Buffer.from('<html><body>cached</body></html>')],
  ['half a free box', box('free', Buffer.alloc(90)).subarray(0, 20)],
];

const BRANDS = ['isom', 'M4A ', 'avis', 'heic', 'qt  ', 'msdh', 'xxxx'];

/** The same video with more around it, in another order or under another name: what a decoder reads of it stays. */
export function variantsOf(bytes: Buffer): Variant[] {
  const types = topLevel(bytes).map(({ type }) => type);
  // Behind fragments without their index, half a box may be the beginning of another fragment.
  const isOpen = types.includes('moof') && !types.includes('mfra');
  const tails = TAILS.filter(([name]) => !isOpen || !name.startsWith('half')).map(([name, tail]): Variant => [
    `${name} behind it`,
    Buffer.concat([bytes, tail]),
  ]);
  if (!/ftyp|moov|mdat|free|wide/.test(bytes.toString('latin1', 4, 8))) return tails;
  const first = ['free', 'skip', 'wide', 'uuid', 'mdat', 'styp'].map((type): Variant => {
    const before = box(type, Buffer.alloc(24));
    return [
      `a box ${type} before it`,
      Buffer.concat([before, moved(bytes, (offset) => offset + before.length)]),
    ];
  });
  const brands = BRANDS.map((brand): Variant => {
    const other = Buffer.from(bytes);
    if (bytes.toString('latin1', 4, 8) === 'ftyp') other.write(brand, 8, 'latin1');
    return [`the brand ${brand}`, other];
  });
  return [...tails, ...first, ...brands, ...ordersOf(bytes)];
}

/** The boxes of a file in other orders; fragments stay in theirs. */
function ordersOf(bytes: Buffer): Variant[] {
  const top = topLevel(bytes);
  if (top.some(({ type }) => type === 'moof')) return [];
  return top.map((_box, turn): Variant => {
    const order = [...top.slice(turn), ...top.slice(0, turn)].reverse();
    const places = new Map<number, number>();
    let position = 0;
    for (const { start, end } of order) {
      places.set(start, position);
      position += end - start;
    }
    const other = moved(bytes, (offset) => {
      const around = top.find(({ start, end }) => start <= offset && offset < end);
      return around === undefined ? offset : offset - around.start + places.get(around.start)!;
    });
    const named = order.map(({ type }) => type).join(', ');
    return [
      `in the order ${named}`,
      Buffer.concat(order.map(({ start, end }) => other.subarray(start, end))),
    ];
  });
}

/** A file whose tables say that its samples are elsewhere. */
function moved(bytes: Buffer, to: (offset: number) => number): Buffer {
  const other = Buffer.from(bytes);
  for (const one of allBoxes(bytes)) {
    if (one.path.endsWith('/stco'))
      for (const at of entriesOf(other, one, 4)) other.writeUInt32BE(to(other.readUInt32BE(at)), at);
    if (one.path.endsWith('/co64'))
      for (const at of entriesOf(other, one, 8))
        other.writeBigUInt64BE(BigInt(to(Number(other.readBigUInt64BE(at)))), at);
    if (one.path.endsWith('/tfhd') && (other.readUInt32BE(one.body) & 1) !== 0)
      other.writeBigUInt64BE(BigInt(to(Number(other.readBigUInt64BE(one.body + 8)))), one.body + 8);
  }
  return other;
}

function entriesOf(bytes: Buffer, { body }: NestedBox, each: number): number[] {
  return Array.from({ length: bytes.readUInt32BE(body + 4) }, (_, index) => body + 8 + index * each);
}
