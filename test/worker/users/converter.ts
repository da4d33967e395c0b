import {
  CompositePayloadConverter,
  type Payload,
  type PayloadConverterWithEncoding,
  UndefinedPayloadConverter,
} from '@temporalio/common';
import { decode, encode } from '@temporalio/common/lib/encoding';

const ENCODING = 'json/users-own';

/** JSON under a name that no other converter reads. */
class OwnJson implements PayloadConverterWithEncoding {
  readonly encodingType = ENCODING;

  toPayload<T>(value: T): Payload {
    return { metadata: { encoding: encode(ENCODING) }, data: encode(JSON.stringify(value)) };
  }

  fromPayload<T>({ data }: Payload): T {
    return JSON.parse(decode(data ?? new Uint8Array())) as T;
  }
}

export const payloadConverter = new CompositePayloadConverter(new UndefinedPayloadConverter(), new OwnJson());
