import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArtifactStore } from '../../artifacts/artifact-store';
import { ingestFile } from '../../artifacts/ingest';
import { type ArtifactRef } from '../../domain/media';
import { renderImage } from '../../testing/sandbox/render-image';

/** Draws two pictures as files of the user and takes them into the store, as the commands do. */
export async function demoInputs(
  store: ArtifactStore,
  directory: string,
): Promise<readonly [ArtifactRef, ArtifactRef]> {
  await mkdir(directory, { recursive: true });
  const draw = async (name: string): Promise<ArtifactRef> => {
    const path = join(directory, `${name}.png`);
    await writeFile(
      path,
      renderImage({
        kind: 'image',
        model: 'input',
        prompt: name,
        width: 256,
        height: 256,
        index: 0,
        inputs: [],
      }),
    );
    return (await ingestFile(store, path)).artifact;
  };
  return [await draw('cup'), await draw('table')];
}
