import { createRequire } from 'node:module';

/**
 * Gives the SDK one copy of protobufjs, as a project has it that uses external storage (`protobufjs@^8.7.1`). npm installs
 * two copies here, and then the SDK cannot write a reference ("type must be a Type"). Import this before the SDK.
 */
const ofCommon = createRequire(require.resolve('@temporalio/common'));
const ofProto = createRequire(ofCommon.resolve('@temporalio/proto'));
const PROTOJSON = 'protobufjs/ext/protojson';
jest.doMock(ofCommon.resolve(PROTOJSON), () => jest.requireActual<object>(ofProto.resolve(PROTOJSON)));
