import { defineQuery } from '@temporalio/workflow';
import { type CallWait } from '../domain/call-wait';
import { QUERY } from '../domain/names';

/** Asked of whatever buys: a worker's process alone knows which refusals stand, and its calls are told. */
export const waitsQuery = defineQuery<readonly CallWait[]>(QUERY.waits);
