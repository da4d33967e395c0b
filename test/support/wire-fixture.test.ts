import { missingExpectation, readWireFixture } from './wire-fixture';

it.each([
  ['no JSON', /x\.json: no JSON \(/],
  ['{"why": "w", "kind": "recrod", "body": 1, "expected": 1}', /x\.json: kind: /],
  ['{"why": "w", "kind": "record", "body": 1, "expect": 1}', /x\.json: it: Unrecognized key: "expect"/],
  ['{"kind": "record", "body": 1, "expected": 1}', /x\.json: why: /],
  ['{"why": "w", "kind": "error", "body": 1, "httpStatus": "500", "expected": 1}', /x\.json: httpStatus: /],
  ['{"why": "w", "kind": "error", "body": 1, "headers": {}, "expected": 1}', /"headers"/],
  ['[]', /x\.json: /],
])('%s names the file, what is wrong, and what is allowed', (text, message) => {
  expect(() => readWireFixture('x.json', text)).toThrow(message);
  expect(() => readWireFixture('x.json', text)).toThrow('"kind": "record" (of a task) | "error"');
});

it('a fixture without `expected` is told what to paste', () => {
  expect(readWireFixture('x.json', '{"why": "w", "kind": "record", "body": 1}')).toMatchObject({ body: 1 });
  expect(missingExpectation('x.json', { id: 'a' }).message).toContain(
    'paste it:\n  "expected": {\n    "id": "a"\n  }',
  );
});
