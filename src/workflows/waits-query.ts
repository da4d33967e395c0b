import { defineQuery } from '@temporalio/workflow';
import { type CallWait } from '../domain/call-wait';
import { QUERY } from '../domain/names';

/** Query of every workflow that buys: only a worker's process knows why it refuses, and its answers say so. */
export const waitsQuery = defineQuery<readonly CallWait[]>(QUERY.waits);
