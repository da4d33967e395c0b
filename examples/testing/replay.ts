import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { MediaPlugin } from 'temporal-media/plugin';

// Export each with `temporal workflow show --workflow-id ID --output json > productFilm.completed.json`. Never edit.
const FOLDER = join(__dirname, 'histories');
const workflowsPath = require.resolve('../plugin/workflows');

test.each(readdirSync(FOLDER))('%s replays: this version does not break films in progress', async (file) => {
  const history: unknown = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
  const plugins = [new MediaPlugin()];
  await expect(Worker.runReplayHistory({ workflowsPath, plugins }, history)).resolves.toBeUndefined();
});
