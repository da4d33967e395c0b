import { RecentReadings } from '../../src/service/get-video';

const bytesOf = (text: string, encoding = '') => ({ bytes: Buffer.from(text), encoding });

describe('the last readings of tasks', () => {
  it('tells the digest of the same bytes of the same task, and of nothing else', () => {
    const readings = new RecentReadings();
    readings.keep('a', bytesOf('{"x":1}'), 'in_progress', 'digest-1');
    expect(readings.find('a', bytesOf('{"x":1}'))).toBe('digest-1');
    expect(readings.find('a', bytesOf('{"x":2}'))).toBeUndefined();
    expect(readings.find('b', bytesOf('{"x":1}'))).toBeUndefined();
    expect(readings.find('a', bytesOf('{"x":1}', 'gzip'))).toBeUndefined();
  });

  it.each(['completed', 'failed'] as const)('forgets a task that is %s: it is not polled again', (phase) => {
    const readings = new RecentReadings();
    readings.keep('a', bytesOf('x'), 'queued', 'digest-1');
    readings.keep('a', bytesOf('y'), phase, 'digest-2');
    expect([readings.find('a', bytesOf('x')), readings.find('a', bytesOf('y'))]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('keeps no long record', () => {
    const readings = new RecentReadings();
    const bytes = bytesOf('x'.repeat(2_049));
    readings.keep('a', bytes, 'queued', 'digest-1');
    expect(readings.find('a', bytes)).toBeUndefined();
  });

  it('keeps only so many tasks, the newest', () => {
    const readings = new RecentReadings();
    const bytes = bytesOf('x');
    for (let n = 0; n <= 50_000; n += 1) readings.keep(`task-${n}`, bytes, 'queued', 'digest-1');
    expect(readings.find('task-0', bytes)).toBeUndefined();
    expect(readings.find('task-1', bytes)).toBe('digest-1');
  });
});
