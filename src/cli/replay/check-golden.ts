import { goldenProblems } from '../../replay/golden-histories';

const WORDS = {
  missing: 'is in the manifest and not in the folder',
  changed: 'is not as it was recorded',
  not_listed: 'is in the folder and not in the manifest',
} as const;

/** What is wrong with the files of a folder of golden histories, whether they replay or not. @throws HistoryError */
export async function checkGolden(folder: string): Promise<readonly string[]> {
  return (await goldenProblems(folder)).map(({ file, problem }) => `${file} ${WORDS[problem]}.`);
}
