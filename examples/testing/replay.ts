import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { MediaPlugin } from 'temporal-media/plugin';

// Written once by `temporal workflow show --workflow-id ID --output json > productFilm.completed.json`, and never changed.
const FOLDER = join(__dirname, 'histories');
const workflowsPath = require.resolve('../plugin/workflows');

test.each(readdirSync(FOLDER))('%s replays: films that are under way survive this version', async (file) => {
  const history: unknown = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
  const plugins = [new MediaPlugin()];
  await expect(Worker.runReplayHistory({ workflowsPath, plugins }, history)).resolves.toBeUndefined();
});
