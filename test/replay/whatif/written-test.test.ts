import { runInNewContext } from 'node:vm';
import { transformSync } from '@swc/core';
import fc from 'fast-check';
import { localRequest } from '../../../packages/cli/src/whatif/local-request';
import { scenarioOf } from '../../../packages/cli/src/whatif/scenario';
import { literal, testOf } from '../../../packages/cli/src/whatif/written-test';
import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import { goldenTarget } from '../timeline/golden-targets';

const written = (
  name: string,
  language: 'ts' | 'js',
  workflow: 'generateVideo' | 'generateImage' = 'generateVideo',
) => {
  const original = buildTimeline(goldenTarget(`${name}.v1.json`));
  const scenario = scenarioOf(original, 10);
  return testOf({ original, scenario, request: { ...localRequest(original, workflow), workflow }, language });
};

describe('a written test', () => {
  it.each(['ts', 'js'] as const)('is whole as .%s, and has the decisions of the history', (language) => {
    const text = written('generateVideo.adopted-by-update', language);
    expect(() =>
      transformSync(text, { jsc: { parser: { syntax: language === 'ts' ? 'typescript' : 'ecmascript' } } }),
    ).not.toThrow();
    expect(text).toContain("executeUpdate('adopt', {");
    expect(text).toContain("expect(await started.result()).toMatchObject({ outcome: 'completed' });");
    expect(text).toContain('// Not played: a decision that was rejected.');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
  });

  it.each([
    ['generateVideo.failed-moderation', "{ outcome: 'failed', error: { kind: 'moderation' } }"],
    [
      'generateVideo.content-unavailable-not-ready',
      "{ outcome: 'content_unavailable', reason: 'not_ready' }",
    ],
    ['generateVideo.unconfirmed', "{ outcome: 'unconfirmed' }"],
  ])('%s: expects the outcome and the paid requests of the history', (name, outcome) => {
    const text = written(name, 'ts');
    expect(text).toContain(`toMatchObject(${outcome})`);
    expect(text).toContain('.creates.received).toBe(1)');
  });

  it('of an image counts images', () => {
    expect(written('generateImage.unconfirmed', 'ts', 'generateImage')).toMatch(
      /media\.images\.start\([\s\S]*images\.received\).toBe\(1\)/,
    );
  });
});

describe('a literal', () => {
  const values = fc.object({
    key: fc.stringMatching(/^[a-z]\w*$/),
    values: [fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null)],
    maxDepth: 4,
  });
  it('is the value again', () => {
    fc.assert(
      fc.property(values, (value) => {
        const same = JSON.parse(JSON.stringify(value)) as unknown;
        expect(runInNewContext(`(${literal(same)})`)).toEqual(same);
      }),
    );
  });
});
