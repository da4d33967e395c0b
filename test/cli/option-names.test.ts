import { byOption } from '../../packages/cli/src/shared/invalid-request';
import { validateRawFields } from '../../src/domain/validate-request';

test.each([
  ['generate_image', 'response_format', '--response-format'],
  ['edit_image', 'image[]', '--image'],
  ['create_video', 'seconds', '--duration'],
  ['create_video', 'aspect_ratio', '--aspect-ratio'],
] as const)('%s: --field %s names the option that takes it', (operation, name, option) => {
  const [issue] = validateRawFields({ [name]: 'x' }, { operation }).map(byOption);
  expect(issue?.field).toBe(`--field (fields.${name})`);
  expect(issue?.message).toContain(`Use ${option}.`);
});

test('a field that references of the request use names --reference', () => {
  const [issue] = validateRawFields({ clip: 'x' }, { operation: 'create_video', used: ['clip'] }).map(
    byOption,
  );
  expect(issue?.message).toContain('Use --reference.');
});
