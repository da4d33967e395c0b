import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { toArtifactError } from '../artifacts/artifact-store';
import { ReportError } from './report-error';
import { ReportFolder, STATE_FOLDER } from './report-folder';

/** What a report puts beside its state: files of these names in a folder without one belong to somebody else. */
const OURS = /^(index\.html|results\.(jsonl|csv)|summary\.json|assets|data|media|page-[0-9-]+\.html)$/;
const OWNER = `${STATE_FOLDER}/campaign.json`;

/**
 * Opens the folder for the report of this campaign, and marks it before anything else is written.
 * @throws ReportError when it holds something else; nothing was changed then
 */
export async function claimFolder(root: string, campaign: string): Promise<ReportFolder> {
  try {
    const folder = new ReportFolder(root);
    await mkdir(root, { recursive: true });
    const names = await folder.list('.');
    if (!names.includes(STATE_FOLDER) && names.some((name) => OURS.test(name)))
      throw new ReportError(
        'folder_occupied',
        'The folder holds files that a report would replace. Choose another one.',
      );
    await mkdir(join(root, STATE_FOLDER, 'tmp'), { recursive: true });
    const owner = await folder.read(OWNER);
    if (owner === null) await folder.write(OWNER, `${JSON.stringify({ v: 1, campaign })}\n`);
    else if ((JSON.parse(owner) as { campaign?: unknown }).campaign !== campaign)
      throw new ReportError('other_campaign', 'The folder is the report of another campaign.');
    return folder;
  } catch (error) {
    if (error instanceof ReportError) throw error;
    throw toArtifactError(error, 'The folder of the report');
  }
}
