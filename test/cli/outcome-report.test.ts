import { reportOutcome } from '../../packages/cli/src/shared/outcome-report';
import { outcomes } from '../../src/domain/outcome';
import { answers } from '../domain/create-answers';

describe('what people read of a refusal', () => {
  const refused = (error: { code: string | null; message: string | null }, httpStatus?: number) =>
    reportOutcome(
      outcomes.rejected(
        {
          ...answers.rejected(0, 'invalid_request'),
          message: 'The service refused the request.',
          error: { kind: 'invalid', ...error },
          ...(httpStatus !== undefined && { httpStatus }),
        },
        'key',
        1,
      ),
    );

  it.each([
    [
      { code: 'bad_seconds', message: 'seconds must be 4 or 8' },
      400,
      'seconds must be 4 or 8 (code bad_seconds, HTTP 400)',
    ],
    [{ code: null, message: 'no such size' }, undefined, 'no such size'],
    [{ code: 'bad_seconds', message: null }, 400, '(code bad_seconds, HTTP 400)'],
  ])('holds the words of the service itself: %j', (error, httpStatus, said) => {
    expect(refused(error, httpStatus).lines).toContain(`service message: ${said}`);
  });

  it('says nothing in the name of a service that said nothing', () => {
    const { lines } = refused({ code: null, message: null });
    expect(lines.join('\n')).not.toContain('service message');
  });

  it('names no field in its hint where none is named', () => {
    const { error, lines } = refused({ code: null, message: 'no' });
    expect([error?.hint, ...lines].join('\n')).not.toMatch(/field|the message names/);
    expect(error?.hint).toContain("as the service's message says");
  });

  it('names the field where there is one, and says that it is to be corrected', () => {
    const wrong = { ...answers.rejected(0, 'invalid_request'), field: 'size', allowed: ['a', 'b'] };
    const { error, lines } = reportOutcome(outcomes.rejected(wrong, 'key', 1));
    expect(error?.message).toMatch(/^--size: .* Allowed: a, b\.$/);
    expect(error?.hint).toContain('Fix the field named in the message');
    expect(lines[0]).toContain('A field of the request is invalid');
  });
});
