import fc from 'fast-check';
import { announcedIn, causeOfUnseen, PERHAPS, taskIdIn } from '../../src/domain/create-heartbeat';

describe('what the last heartbeat of an activity says', () => {
  it('names the intent that was announced, of a call alone and of a row in a group', () => {
    expect(announcedIn({ intent: 'n' })).toBe('n');
    expect(announcedIn({ intent: 'n', taskId: 'video_1' })).toBe('n');
    expect(announcedIn({ intents: [null, 'n'], taskIds: [null, null] }, 1)).toBe('n');
  });

  it('names the task of a reply that was read, of a call alone and of a row in a group', () => {
    expect(taskIdIn({ intent: 'n', taskId: 'video_1' })).toBe('video_1');
    const group = { intents: [null, 'n'], taskIds: [null, 'video_2'] };
    expect([taskIdIn(group, 0), taskIdIn(group, 1), taskIdIn(group)]).toEqual([null, 'video_2', null]);
    expect(taskIdIn({ intent: 'n' })).toBeNull();
  });

  it.each<[string, unknown, number | undefined]>([
    ['none was sent', undefined, undefined],
    ['it says nothing', null, undefined],
    ['no intent was written', { intent: null }, undefined],
    ['it is of a group', { intents: ['n'], taskIds: [null] }, undefined],
    ['it is of a call alone', { intent: 'n' }, 0],
    ['its row has announced nothing', { intents: [null, 'n'], taskIds: [null, null] }, 0],
    ['it has no such row', { intents: ['n'], taskIds: [null] }, 7],
  ])('names none where %s', (_, details, row) => {
    expect(announcedIn(details, row)).toBeNull();
  });

  it('is read out of whatever a heartbeat holds', () => {
    fc.assert(
      fc.property(fc.anything(), fc.option(fc.nat(30), { nil: undefined }), (details, row) => {
        for (const said of [announcedIn(details, row), taskIdIn(details, row)])
          expect(said === null || typeof said === 'string').toBe(true);
      }),
    );
  });

  it('[C4.4c] tells a journal that was set back from a worker that was lost before it said whether it sent', () => {
    expect(causeOfUnseen('n')).toBe('journal_changed');
    expect(causeOfUnseen(null)).toBe('journal_changed');
    expect(causeOfUnseen(`${PERHAPS}1`)).toBe('worker_lost');
  });
});
