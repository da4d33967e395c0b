import { stat, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { otherwise } from '../../domain/bug';
import { WORKFLOW } from '../../domain/names';
import { type Timeline } from '../../replay/timeline/timeline';
import { CliError } from '../errors';
import { outcomeType } from './outcome-type';
import { type Scenario } from './scenario';
import { type LocalRequest } from './local-request';
import { testOf, type TestSubject } from './written-test';

const LANGUAGES = ['.ts', '.js'];

/** Before anything is played. @throws CliError where no test can be written */
export async function refuseToSave(file: string, original: Timeline): Promise<void> {
  if (!LANGUAGES.includes(extname(file)))
    throw new CliError(
      'bad_input',
      `--save-test writes .ts or .js, not ${extname(file) || 'a file without an extension'}.`,
    );
  if (outcomeType(original) === null)
    throw new CliError('bad_input', '--save-test: the history has no outcome yet that a test could expect.');
  if (original.workflowType === WORKFLOW.editImage)
    throw new CliError(
      'bad_input',
      '--save-test: an edit begins with pictures, which a test file cannot hold.',
    );
  if ((await stat(file).catch(otherwise(undefined))) !== undefined) throw exists(file);
}

const exists = (file: string): CliError =>
  new CliError('bad_input', `--save-test: ${file} exists; nothing is overwritten.`, {
    hint: 'Name another file, or remove this one.',
  });

/** Writes the test of a history that {@link refuseToSave} has let pass. Nothing is overwritten. */
export async function saveTest(
  file: string,
  of: { readonly original: Timeline; readonly scenario: Scenario; readonly request: LocalRequest },
): Promise<void> {
  const language = extname(file) === '.ts' ? 'ts' : 'js';
  const text = testOf({ ...of, request: of.request as TestSubject['request'], language });
  await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw exists(file);
    throw new CliError('cannot_write', `--save-test: ${file} cannot be written (${error.code}).`);
  });
}
