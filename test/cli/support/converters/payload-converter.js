'use strict';
// JSON under a name that no other converter reads. It runs in the workflow sandbox too.
const { CompositePayloadConverter, UndefinedPayloadConverter } = require('@temporalio/common');
const { decode, encode } = require('@temporalio/common/lib/encoding');

const ENCODING = 'json/users-own';

exports.payloadConverter = new CompositePayloadConverter(new UndefinedPayloadConverter(), {
  encodingType: ENCODING,
  toPayload: (value) => ({ metadata: { encoding: encode(ENCODING) }, data: encode(JSON.stringify(value)) }),
  fromPayload: ({ data }) => JSON.parse(decode(data ?? new Uint8Array())),
});
