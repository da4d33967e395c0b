/** A box at any depth; offsets in bytes from the file's start. */
export interface NestedBox {
  readonly path: string;
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

const CONTAINERS: ReadonlySet<string> = new Set(
  'moov trak mdia minf stbl mvex moof traf edts dinf udta'.split(' '),
);

/** Every box of a file down to the tables, in the order of the file. */
export function allBoxes(bytes: Buffer, from = 0, to = bytes.length, around = ''): NestedBox[] {
  const found: NestedBox[] = [];
  for (let start = from; start + 8 <= to;) {
    const short = bytes.readUInt32BE(start);
    const size = short === 0 ? to - start : short === 1 ? Number(bytes.readBigUInt64BE(start + 8)) : short;
    const type = bytes.toString('latin1', start + 4, start + 8);
    if (size < 8 || start + size > to) break;
    const path = around === '' ? type : `${around}/${type}`;
    const body = start + (short === 1 ? 16 : 8);
    found.push({ path, start, body, end: start + size });
    if (CONTAINERS.has(type)) found.push(...allBoxes(bytes, body, start + size, path));
    start += size;
  }
  return found;
}

/** Boxes that a player can do without: a file that lost only these is whole. */
const SPARE: ReadonlySet<string> = new Set(['free', 'skip', 'uuid', 'mfra', 'meta', 'udta', 'wide']);

/**
 * What a cut leaves: `broken`, or `whole` because only padding is gone, or `shorter` because it fell between two
 * fragments: these bytes are a complete, shorter file, and only the length that the service tells gives the cut away.
 * Half a box behind fragments is `broken`, because more of them may have followed, unless it is their index.
 */
export function whatIsLeft(bytes: Buffer, cut: number): 'broken' | 'whole' | 'shorter' {
  const top = allBoxes(bytes).filter(({ path }) => !path.includes('/'));
  const lost = top.filter(({ end }) => end > cut);
  const kept = top.filter(({ end }) => end <= cut);
  const [half] = lost.filter(({ start }) => start < cut);
  const isFragmented = bytes.includes('mvex') || top.some(({ path }) => path === 'moof');
  const isIndex = half?.path === 'mfra' && half.body <= cut;
  if (half !== undefined && isFragmented && !isIndex) return 'broken';
  if (lost.every(({ path }) => SPARE.has(path))) return 'whole';
  if (half !== undefined) return 'broken';
  const last = kept.at(-1)?.path ?? '';
  const playable = ['moov', 'mdat'].every((type) => kept.some(({ path }) => path === type));
  const fragments = ['moof', 'mdat', 'sidx', 'styp', ...SPARE];
  const between = playable && (last === 'mdat' || SPARE.has(last));
  const types = lost.map(({ path }) => path);
  return between && types.includes('moof') && types.every((type) => fragments.includes(type))
    ? 'shorter'
    : 'broken';
}
