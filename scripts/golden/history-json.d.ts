import { type History } from '@temporalio/common/lib/proto-utils';

/** A history as the JSON that every Temporal tool reads. */
export declare function historyToJson(history: History): unknown;
/** The inverse; fields of newer servers are left out. */
export declare function historyFromJson(json: unknown): History;
