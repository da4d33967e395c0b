import {
  condition,
  defineSignal,
  defineUpdate,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow';

const go = defineSignal<[string]>('go');
const rename = defineUpdate<string, [string]>('rename');

interface Steps {
  measure(text: string): Promise<string>;
  refuse(text: string): Promise<never>;
}

/** A workflow of a user with what the SDK records in markers. */
export async function localSteps(text: string): Promise<string> {
  let word = '';
  setHandler(go, (given) => void (word = given));
  setHandler(rename, (given) => (word = given));
  const local = proxyLocalActivities<Steps>({
    startToCloseTimeout: '10s',
    retry: { maximumAttempts: 1 },
    summary: `measure ${text}`,
  });
  const found = patched('measured-first') ? await local.measure(text) : '';
  await local.refuse(text).catch(() => undefined);
  await sleep(1, { summary: `wait for ${text}` });
  const { measure } = proxyActivities<Steps>({ startToCloseTimeout: '10s', activityId: 'the-last-one' });
  await condition(() => word !== '');
  return `${found} ${await measure(word)}`;
}
