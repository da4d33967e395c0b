'use strict';
// A user's module for MEDIA_DATA_CONVERTER: a codec that reverses bytes, as secret as it looks.

const NAME = 'binary/reversed';

const codec = {
  encode: async (payloads) =>
    payloads.map(({ metadata, data }) => ({
      metadata: { encoding: Buffer.from(NAME), inner: metadata.encoding },
      data: Buffer.from(data ?? []).reverse(),
    })),
  decode: async (payloads) =>
    payloads.map((payload) =>
      Buffer.from(payload.metadata.encoding).toString() === NAME
        ? { metadata: { encoding: payload.metadata.inner }, data: Buffer.from(payload.data ?? []).reverse() }
        : payload,
    ),
};

module.exports = { dataConverter: { payloadCodecs: [codec] } };
