import { type ByteSource } from '../../../src/stores/artifacts/byte-source';

interface Behaviour {
  /** Bytes of one read at most. @default Infinity */
  readonly most?: number;
  readonly onRead?: () => void;
}

/** Bytes that are read like an open file, into the room that there is and no more. */
export function memorySource(bytes: Buffer, { most = Infinity, onRead }: Behaviour = {}): ByteSource {
  return {
    read(into, offset, length, position) {
      onRead?.();
      if (offset + length > into.length) throw new RangeError('no room');
      const end = Math.min(position + length, position + most, bytes.length);
      return Promise.resolve({ bytesRead: position < end ? bytes.copy(into, offset, position, end) : 0 });
    },
  };
}
