import { OpenPolls } from '../../src/activities/poll-limits';

it('a poll that throws is over: the next tick polls its task again', async () => {
  const polls = new OpenPolls();
  const broken = polls.begin('task', () => Promise.reject(new TypeError('a mistake')));
  await expect(broken.ended).rejects.toThrow('a mistake');
  expect(polls.of('task')).toBeUndefined();
  const next = polls.begin('task', async () => ({ kind: 'error', error: 'network' }) as never);
  expect((await next.ended).result).toMatchObject({ error: 'network' });
});
