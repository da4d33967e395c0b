import { firstVideo } from '../../packages/cli/src/dev/command';

test('a model of the sandbox is suggested for the sandbox alone', () => {
  expect(firstVideo(true).join('\n')).toContain('--model sketch-lite');
  const own = firstVideo(false).join('\n');
  expect(own).not.toContain('sketch-lite');
  expect(own).toMatch(/--model MODEL .*--dry-run[^]*models ls/);
});
