import { at, CheckBench, images } from './money/check-bench';

describe('money check --missing-are-free', () => {
  let bench: CheckBench;

  beforeEach(async () => {
    bench = await CheckBench.open();
  });
  afterEach(() => bench.close());

  test.each([
    ['without a key', 'image', ',,image-2,,0.04,USD'],
    ["with the service's own id", 'image', ',,image-2,req-9,0.04,USD'],
    ["with the image's own id as its task", 'image', ',img_9,image-2,req-9,0.04,USD'],
    ['of an unknown model', 'unknown', ',img_9,image-2-hd,,0.04,USD'],
    ['without a model', 'unknown', ',img_9,,,0.04,USD'],
  ])('an image is not free while a line %s may be about it', async (_, kind, line) => {
    await bench.calls(
      { creationKey: 'video' },
      { creationKey: 'picture', operation: 'generate_image', model: 'image-2', answer: images },
      { creationKey: 'known', operation: 'generate_image', model: 'image-2', answer: images },
    );
    const known = `${at(2)},,image-2,key-of-known,0.04,USD`;
    const video = `${at(0)},t0,cine-1,key-of-video,0.10,USD`;
    const columns = 'time,task_id,model,idempotency_key,amount,currency';
    const file = await bench.invoice([video, `${at(1)}${line}`, known].toSorted(), columns);
    const apply = ['--apply', '--missing-are-free', '--tolerance', '1'];
    const { data } = await bench.check(file, ...apply, '--reference', 'one');
    expect(data.applied).toEqual({ recorded: 2, amount: 140_000 });
    expect(data.findings.map(({ finding }) => finding).toSorted()).toEqual([kind, 'not_billed'].toSorted());
    const left = data.findings.find(({ creationKey }) => creationKey === 'picture');
    expect(left?.note).toMatch(/^A line that names no call may be about it.*money settle/);
    expect(await bench.underReview()).toEqual(['picture']);
    // Nor is one that an earlier file billed by its key.
    const later = await bench.invoice([video, `${at(1)}${line}`], columns);
    await bench.check(later, ...apply, '--reference', 'two', '--corrects', 'one', '--since', '2026-11');
    expect((await bench.bills('known')).map(({ microUnits }) => microUnits)).toEqual([40_000]);
    // Once every line is explained, what is missing is free.
    const whole = await bench.invoice([video, known], columns);
    await bench.check(whole, ...apply, '--reference', 'one');
    expect(await bench.underReview()).toEqual([]);
  });

  test('an image is free although an unexplained line is about a video', async () => {
    await bench.calls(
      { creationKey: 'video' },
      { creationKey: 'picture', operation: 'generate_image', model: 'image-2', answer: images },
    );
    const lines = [`${at(0)},t0,cine-1,,0.10,USD`, `${at(1)},foreign,cine-1,,0.10,USD`];
    const file = await bench.invoice(lines, 'time,task_id,model,idempotency_key,amount,currency');
    const { data } = await bench.check(file, '--apply', '--missing-are-free');
    expect([data.applied?.recorded, data.found.map(({ finding }) => finding)]).toEqual([2, ['unknown']]);
  });

  test('a video is not free while a line without a task may be about it', async () => {
    await bench.calls({ creationKey: 'billed' }, { creationKey: 'perhaps' });
    const apply = ['--apply', '--missing-are-free', '--reference', 'one'];
    // Without a name, or with one that no log has.
    for (const line of [',,cine-1,', ',,,', ',,cine-1-hd,', ',,cine-1,req-9']) {
      const lines = [`${at(0)},t0,cine-1,,0.10,USD`, `${at(1)}${line},0.10,USD`];
      const file = await bench.invoice(lines, 'time,task_id,model,request_id,amount,currency');
      await bench.check(file, ...apply);
      expect(await bench.underReview()).toEqual(['perhaps']);
    }
  });

  test('a call that the next month bills was free only until then, and no other bill of its month changes', async () => {
    await bench.calls(
      { creationKey: 'billed', at: '2026-11-10T12:00:00.000Z' },
      { creationKey: 'late', at: '2026-11-30T23:58:00.000Z' },
    );
    const apply = ['--apply', '--missing-are-free'];
    const november = await bench.invoice(['2026-11-10T12:00:00Z,t0,cine-1,0.10,USD']);
    const whole = ['--since', '2026-11', '--until', '2026-12', '--reference', 'invoice 2026-11'];
    const first = await bench.check(november, ...apply, ...whole);
    expect([first.code, first.data.applied]).toEqual([0, { recorded: 2, amount: 100_000 }]);
    const december = await bench.invoice(['2026-12-01T00:01:00Z,t1,cine-1,0.10,USD'], undefined, 'later.csv');
    const late = await bench.check(december, ...apply, '--reference', 'invoice 2026-12');
    expect([late.code, late.data.applied]).toEqual([0, { recorded: 1, amount: 100_000 }]);
    expect((await bench.bills('late')).map(({ microUnits }) => microUnits)).toEqual([0, 100_000]);
    for (const [file, ...args] of [
      [november, ...whole],
      [december, '--reference', 'invoice 2026-12'],
    ] as const) {
      const again = await bench.check(file, ...apply, ...args);
      expect([again.code, again.data.applied]).toEqual([0, { recorded: 0, amount: 0 }]);
    }
    const wrong = await bench.check(
      december,
      ...apply,
      '--reference',
      'other',
      '--corrects',
      'invoice 2026-11',
    );
    expect(wrong.data.applied).toEqual({ recorded: 0, amount: 0 });
    expect(wrong.data.findings.find(({ creationKey }) => creationKey === 'billed')).toMatchObject({
      finding: 'not_billed',
      note: "It still has a bill of 0.10 USD. It was sent outside of the invoice's period.",
    });
    expect(await bench.bills('billed')).toHaveLength(1);
  });

  test('calls of another account are not free: of several accounts, one must be named', async () => {
    await bench.calls(
      { creationKey: 'ours', account: 'studio-a@11111111' },
      { creationKey: 'also ours', account: 'studio-a@33333333' },
      { creationKey: 'theirs', account: 'studio-b@22222222' },
      { creationKey: 'elsewhere', account: 'studio-c@22222222', namespace: 'staging' },
    );
    const file = await bench.invoice([`${at(0)},t0,cine-1,0.10,USD`]);
    const free = ['--apply', '--missing-are-free', '--since', '2026-11'];
    const refused = await bench.check(file, ...free);
    expect([refused.code, refused.type]).toEqual([65, 'rejected/invalid_request']);
    expect(refused.reply.error?.message).toMatch(/--account: is required .* Allowed: studio-a, studio-b\.$/);
    expect(await bench.bills('ours')).toEqual([]);
    const named = await bench.check(file, ...free, '--account', 'studio-a');
    expect(named.data.applied).toEqual({ recorded: 2, amount: 100_000 });
    expect(await bench.underReview()).toEqual(['theirs']);
  });
});
