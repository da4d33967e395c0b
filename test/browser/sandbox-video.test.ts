import { type Browser, chromium } from 'playwright-core';
import { jsonOf, rawCall } from '../testing/sandbox/raw-call';
import { runSandbox, type RunningSandbox } from '../testing/sandbox/running-sandbox';

const executablePath = process.env.CHROMIUM_PATH;
const inBrowser = executablePath === undefined ? describe.skip : describe;

inBrowser('a video of the sandbox in a browser', () => {
  let browser: Browser;
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox();
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser.close();
    await sandbox.close();
  });

  test('plays', async () => {
    const created = jsonOf(await sandbox.create({ model: 'cine-1', prompt: 'a boat at night', seconds: 2 }));
    const content = await rawCall(`${sandbox.taskUrl(String(created.id))}/content`);
    const page = await browser.newPage();
    await page.setContent(`<video muted src="${String(content.headers.location)}"></video>`);
    const played = await page.evaluate(async () => {
      const video = document.querySelector('video');
      if (video === null) throw new Error('no video element');
      await video.play();
      await new Promise<void>((resolve, reject) => {
        video.addEventListener('timeupdate', () => video.currentTime > 0.5 && resolve());
        video.addEventListener('error', () => reject(new Error(video.error?.message)));
      });
      return {
        width: video.videoWidth,
        ready: video.readyState,
        time: video.currentTime,
        duration: video.duration,
      };
    });
    expect(played.width).toBe(256);
    expect(played.ready).toBeGreaterThanOrEqual(2);
    expect(played.time).toBeGreaterThan(0.5);
    expect(played.duration).toBeCloseTo(2, 1);
  });
});
