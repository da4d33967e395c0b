import { CancellationScope, continueAsNew, sleep } from '@temporalio/workflow';
import { beginCreate, type CreateOnceState } from '../../../src/domain/create-once';
import { type VideoRequest } from '../../../src/domain/request';
import { createOnce, type CreateOnceResult } from '../../../src/workflows';

/** Gives a create up in a scope of its own, before it begins or in its first wait, and continues with its own work. */
export async function givesACreateUp(
  creationKey: string,
  request: VideoRequest,
  when: 'before it begins' | 'while it waits',
): Promise<CreateOnceResult> {
  const scope = new CancellationScope();
  if (when === 'before it begins') scope.cancel();
  const result = await scope.run(() =>
    createOnce(beginCreate(creationKey, Date.now()), {
      request,
      startLimitMs: 60_000,
      onState: (_state, wait) => {
        if (wait !== null) scope.cancel();
      },
    }),
  );
  await sleep(1);
  await sleep(1);
  return result;
}

/** Continues as new after every wait of a create. */
export async function handsACreateOver(
  creationKey: string,
  request: VideoRequest,
  startLimitMs: number,
  state?: CreateOnceState,
): Promise<CreateOnceResult> {
  const result = await createOnce(state ?? beginCreate(creationKey, Date.now()), {
    request,
    startLimitMs,
    shouldHandOver: () => true,
  });
  return result.kind === 'handover'
    ? continueAsNew<typeof handsACreateOver>(creationKey, request, startLimitMs, result.state)
    : result;
}
