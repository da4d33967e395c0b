import { nearNames } from '../../packages/cli/src/shared/text';

test.each([
  ['cine1', ['cine-1', 'cine-1-pro', 'image-2'], ['cine-1', 'cine-1-pro']],
  ['MEDIA_BASEURL', ['MEDIA_BASE_URL', 'MEDIA_MODELS'], ['MEDIA_BASE_URL']],
  ['sketch-light', ['sketch-lite', 'atlas-long'], ['sketch-lite']],
  ['Image 2', ['image-2', 'image-2 4K'], ['image-2', 'image-2 4K']],
  ['KEY', ['API_KEY', 'MODELS'], ['API_KEY']],
  ['zzz', ['cine-1', 'image-2'], []],
  ['', ['cine-1'], []],
])('%s is near %j as %j', (wanted, known, near) => {
  expect(nearNames(wanted, known)).toEqual(near);
});
