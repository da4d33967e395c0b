import { type GetVideoResult } from '../../src/service/get-video-result';
import { RecentReadings } from '../../src/service/recent-readings';

const reading = (phase: 'queued' | 'in_progress' | 'completed' | 'failed' | 'unknown'): GetVideoResult => ({
  kind: 'record',
  httpStatus: 200,
  record: { status: phase, phase },
  resultUrls: [],
});

describe('the last readings of tasks', () => {
  it('gives the same reading for the same bytes of the same task, and for nothing else', () => {
    const readings = new RecentReadings();
    const result = reading('in_progress');
    readings.keep('a', '{"x":1}', result);
    expect(readings.find('a', '{"x":1}')).toBe(result);
    expect(readings.find('a', '{"x":2}')).toBeUndefined();
    expect(readings.find('b', '{"x":1}')).toBeUndefined();
  });

  it.each(['completed', 'failed'] as const)('forgets a task that is %s: it is not polled again', (phase) => {
    const readings = new RecentReadings();
    readings.keep('a', 'x', reading('queued'));
    readings.keep('a', 'y', reading(phase));
    expect([readings.find('a', 'x'), readings.find('a', 'y')]).toEqual([undefined, undefined]);
  });

  it('keeps no long record', () => {
    const readings = new RecentReadings();
    const bytes = 'x'.repeat(2_049);
    readings.keep('a', bytes, reading('queued'));
    expect(readings.find('a', bytes)).toBeUndefined();
  });

  it('keeps only so many tasks, the newest', () => {
    const readings = new RecentReadings();
    for (let n = 0; n <= 50_000; n += 1) readings.keep(`task-${n}`, 'x', reading('queued'));
    expect(readings.find('task-0', 'x')).toBeUndefined();
    expect(readings.find('task-1', 'x')).toBeDefined();
  });
});
