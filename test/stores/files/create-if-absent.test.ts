import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { bareFiles, createIfAbsent, publishIfAbsent } from '../../../src/stores/files/durable-files';

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'temporal-media-absent-'));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await fs.rm(folder, { recursive: true, force: true });
});

const failure = (code: string) => Object.assign(new Error(code), { code });

/** Records what is done to the disk, in order, in the folder of the test; `failing` makes one step fail. */
function watchDisk(failing?: (step: string) => Error | undefined): string[] {
  const steps: string[] = [];
  const { link, unlink } = fs;
  const { open, sync, close } = bareFiles;
  const opened = new Map<number, string>();
  const name = (path: string) =>
    path.endsWith('.tmp') ? 'draft' : relative(folder, path).replaceAll('\\', '/') || '.';
  const note = (text: string): void => void (text.includes('..') || steps.push(text));
  const step = (text: string): void => {
    note(text);
    const error = failing?.(text);
    if (error !== undefined) throw error;
  };
  jest.spyOn(bareFiles, 'open').mockImplementation(async (path, flags, mode) => {
    const descriptor = await open(path, flags, mode);
    opened.set(descriptor, name(String(path)));
    if (flags === 'wx') steps.push(`open ${opened.get(descriptor)} ${Number(mode).toString(8)}`);
    return descriptor;
  });
  jest.spyOn(bareFiles, 'sync').mockImplementation(async (descriptor) => {
    step(`sync ${opened.get(descriptor)}`);
    await sync(descriptor);
  });
  jest.spyOn(bareFiles, 'close').mockImplementation(async (descriptor) => {
    note(`close ${opened.get(descriptor)}`);
    await close(descriptor);
  });
  jest.spyOn(fs, 'link').mockImplementation(async (from, to) => {
    step(`link ${name(String(to))}`);
    await link(from, to);
  });
  jest.spyOn(fs, 'unlink').mockImplementation(async (path) => {
    steps.push(`unlink ${name(String(path))}`);
    await unlink(path);
  });
  return steps;
}

describe('creating a file if it is absent', () => {
  it('writes it whole for the first and leaves it alone for the second', async () => {
    const file = join(folder, 'a.claim');
    expect(await createIfAbsent(file, 'first')).toBe('won');
    expect(await createIfAbsent(file, 'second')).toBe('lost');
    expect(await fs.readFile(file, 'utf8')).toBe('first');
    expect(await fs.readdir(folder)).toEqual(['a.claim']);
  });

  it('is durable when it returns: the content before its name, and every new name in its folder', async () => {
    const file = join(folder, 'ab', 'cd', '0.claim');
    const steps = watchDisk();
    expect(await createIfAbsent(file, 'x')).toBe('won');
    // The content and the parents in any order, and all of them before the name.
    const named = steps.indexOf('link ab/cd/0.claim');
    expect(steps.slice(0, named).sort()).toEqual(
      ['open draft 600', 'sync draft', 'close draft', 'sync ab', 'close ab', 'sync .', 'close .'].sort(),
    );
    expect(steps.slice(named)).toEqual([
      'link ab/cd/0.claim',
      ...['sync ab/cd', 'close ab/cd', 'unlink draft'],
    ]);
    steps.length = 0;
    // The folder of the record may have been made anew by somebody else; those above it stay.
    expect(await createIfAbsent(join(dirname(file), '1.claim'), 'x')).toBe('won');
    expect(steps.filter((step) => step.startsWith('sync')).sort()).toEqual([
      'sync ab',
      'sync ab/cd',
      'sync draft',
    ]);
  });

  it('is durable also in folders that another process has just made and not synced yet', async () => {
    const file = join(folder, 'ab', 'cd', '0.claim');
    await fs.mkdir(dirname(file), { recursive: true });
    const steps = watchDisk();
    expect(await createIfAbsent(file, 'x')).toBe('won');
    const named = steps.indexOf('link ab/cd/0.claim');
    expect(steps.slice(0, named)).toEqual(expect.arrayContaining(['sync ab', 'sync .']));
  });

  it('fails when a folder of another process may not be durable, and leaves no name', async () => {
    const file = join(folder, 'ab', 'cd', '0.claim');
    await fs.mkdir(dirname(file), { recursive: true });
    watchDisk((step) => (step === 'sync .' ? failure('EIO') : undefined));
    await expect(createIfAbsent(file, 'x')).rejects.toMatchObject({ code: 'EIO' });
    expect(await fs.readdir(dirname(file))).toEqual([]);
  });

  it('is durable although a folder far above may not be opened', async () => {
    const file = join(folder, 'ab', '0.claim');
    await fs.mkdir(dirname(file));
    watchDisk((step) => (step === 'sync .' ? failure('EACCES') : undefined));
    expect(await createIfAbsent(file, 'x')).toBe('won');
  });

  it('flushes the file by its new name on Windows, where no folder can be flushed', async () => {
    const platform = Object.getOwnPropertyDescriptor(process, 'platform')!;
    const steps = watchDisk();
    Object.defineProperty(process, 'platform', { ...platform, value: 'win32' });
    try {
      expect(await createIfAbsent(join(folder, '0.claim'), 'x')).toBe('won');
    } finally {
      Object.defineProperty(process, 'platform', platform);
    }
    const named = steps.indexOf('link 0.claim');
    expect(steps.slice(named)).toEqual(['link 0.claim', 'sync 0.claim', 'close 0.claim', 'unlink draft']);
    expect(steps.slice(0, named)).toEqual(['open draft 600', 'sync draft', 'close draft']);
  });

  it('makes folders that nobody else can enter', async () => {
    await createIfAbsent(join(folder, 'ab', 'cd', '0.claim'), 'x');
    if (process.platform === 'win32') return;
    for (const made of ['ab', 'ab/cd']) expect((await fs.stat(join(folder, made))).mode & 0o777).toBe(0o700);
  });

  it('fails, and leaves no name, when the content may not be durable', async () => {
    const file = join(folder, '0.claim');
    const steps = watchDisk((step) => (step === 'sync draft' ? failure('EIO') : undefined));
    await expect(createIfAbsent(file, 'x')).rejects.toMatchObject({ code: 'EIO' });
    expect(steps).toEqual(['open draft 600', 'sync draft', 'close draft', 'unlink draft']);
    expect(await fs.readdir(folder)).toEqual([]);
  });

  it('fails when the name may not be durable: the file is there, which is the safe side', async () => {
    const steps = watchDisk((step) => (step === 'sync .' ? failure('EIO') : undefined));
    await expect(createIfAbsent(join(folder, '0.claim'), 'x')).rejects.toMatchObject({ code: 'EIO' });
    expect(steps.at(-2)).toBe('close .');
    expect(await fs.readdir(folder)).toEqual(['0.claim']);
  });

  it('fails when it cannot write: only a name that is there is lost', async () => {
    watchDisk((step) => (step.startsWith('link') ? failure('ENOSPC') : undefined));
    await expect(createIfAbsent(join(folder, '0.claim'), 'x')).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await fs.readdir(folder)).toEqual([]);
  });
});

describe('publishing a file under its final name', () => {
  let source: string;
  let final: string;
  beforeEach(async () => {
    source = join(folder, 'source');
    final = join(folder, 'final');
    await fs.writeFile(source, 'mine');
  });

  const linkFails = (code: string) =>
    jest.spyOn(fs, 'link').mockRejectedValue(Object.assign(new Error('link'), { code }));

  describe.each([
    ['with hard links', undefined],
    ['whose hard links are refused', 'EPERM'],
    ['that knows no hard links', 'ENOTSUP'],
  ])('on a file system %s', (_name, code) => {
    beforeEach(() => void (code !== undefined && linkFails(code)));

    it('gives it the name, and takes the old one away', async () => {
      expect(await publishIfAbsent(source, final)).toBe(true);
      expect(await fs.readdir(folder)).toEqual(['final']);
      expect(await fs.readFile(final, 'utf8')).toBe('mine');
    });

    it('leaves both alone when the name is taken', async () => {
      await fs.writeFile(final, 'of another');
      expect(await publishIfAbsent(source, final)).toBe(false);
      expect(await fs.readFile(final, 'utf8')).toBe('of another');
      expect(await fs.readFile(source, 'utf8')).toBe('mine');
    });
  });

  it('a disk that fails is no file system without hard links', async () => {
    linkFails('EIO');
    await expect(publishIfAbsent(source, final)).rejects.toMatchObject({ code: 'EIO' });
    expect(await fs.readdir(folder)).toEqual(['source']);
  });
});
