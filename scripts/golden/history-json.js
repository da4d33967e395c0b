'use strict';
const path = require('node:path');
const proto = require('@temporalio/proto');
const { patchProtobufRoot } = require('@temporalio/proto/lib/patch-protobuf-root');

// The SDK's own historyToJSON and historyFromJSON fail with "type must be a Type" when npm gives @temporalio/common
// and @temporalio/proto a protobufjs each, as it does beside another major version: the converter must be the copy
// that made the types.
const protojson = require(
  require.resolve('protobufjs/ext/protojson', {
    paths: [path.dirname(require.resolve('@temporalio/proto'))],
  }),
);
const HISTORY = patchProtobufRoot(proto).lookupType('temporal.api.history.v1.History');

/** A history as the JSON that every Temporal tool reads (`temporal workflow show -o json`, replayers). */
function historyToJson(history) {
  return protojson.toJson(HISTORY, proto.temporal.api.history.v1.History.fromObject(history));
}

/** The inverse; fields of newer servers are left out. */
function historyFromJson(json) {
  return protojson.fromJson(HISTORY, json, { ignoreUnknownFields: true });
}

module.exports = { historyFromJson, historyToJson };
