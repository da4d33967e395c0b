import { videoSituation } from '../../packages/cli/src/shared/case-advice';
import {
  CAMPAIGN_ADVICE,
  OUTCOME_ADVICE,
  rowAdvice,
  situation,
  SITUATIONS,
  type SituationName,
} from '../../src/domain/advice';
import { FAILURE_TABLE } from '../../src/domain/failure-table';
import { POLL_ERROR_CLASSES } from '../../src/domain/poll-answers';
import { filled } from '../../src/domain/terminal-text';
import { shellWord } from '../../src/domain/terminal-text';
import { makeVideoTask } from './make-video-task';

const SITUATION_NAMES = Object.keys(SITUATIONS) as SituationName[];
const HOSTILE = ['$(reboot)', '-rf', 'x'.repeat(512), '`a` https://x.example/?sig=1', 'TASK', "it's"];
const PHASES = ['creating', 'waiting_to_create', 'unconfirmed', 'watching', 'downloading', 'done'] as const;

const every: readonly string[] = [
  ...SITUATION_NAMES.flatMap((name) => SITUATIONS[name].slice(1)),
  ...Object.values(OUTCOME_ADVICE).flat(),
  ...Object.values(CAMPAIGN_ADVICE),
];

describe('what a person does now', () => {
  it('is said in full sentences, with whole commands', () => {
    for (const text of every) {
      expect(text).toMatch(/^[A-Z`][^]{12,420}\.$/);
      expect(text.split('`').length % 2).toBe(1);
    }
  });

  it('[C4.4c] speaks of starting again only where no task exists, and then says that it buys nothing twice', () => {
    const again = /(^|[.;:] )start the same request again|Start the same request again/;
    for (const name of SITUATION_NAMES) {
      const [step, , now] = SITUATIONS[name];
      expect([name, again.test(now)]).toEqual([name, step === 'start_again']);
    }
    const mayExist = FAILURE_TABLE.filter(({ taskMayExist }) => taskMayExist === 'yes');
    for (const { type, hint } of mayExist)
      if (type !== 'results_lost') expect(hint).not.toMatch(/(^|\. )(Create|Start|Resubmit) (it|this|again)/);
  });

  it('says while a create is open that no other id is safe', () => {
    for (const name of ['creating', 'waiting_to_create', 'unconfirmed', 'image'] as const)
      expect(SITUATIONS[name][2]).toMatch(/not (start this video|make this call) under another id/);
  });

  it('puts no word into a command that a shell would read otherwise, and none twice', () => {
    for (const id of HOSTILE)
      for (const name of SITUATION_NAMES) {
        const { text } = situation(name, { ID: id, TASK: id, KEY: id });
        for (const code of text.split('`').filter((_part, index) => index % 2 === 1 && index > 0))
          if (code.startsWith('temporal')) expect(code).not.toMatch(/\$\(|\?sig|x{129}|it's/);
      }
    expect(filled('Run `temporal-media resume TASK`.', { TASK: '-rf' }, shellWord)).toBe(
      'Run `temporal-media resume -- -rf`.',
    );
    expect(situation('paused', { ID: '-f 1' }, shellWord).text).toContain("--workflow-id '-f 1'`");
    expect(filled('WHO: `x TASK`', { WHO: 'TASK', TASK: 'ID', ID: 'no' })).toBe('TASK: `x ID`');
  });

  it('leaves the name of what is not known', () =>
    expect(situation('closed_with_task').text).toContain('`temporal-media resume TASK`'));

  it('[C4.4a] never sends a row out of its campaign: under an id of its own it would be bought again', () => {
    for (const type of Object.keys(OUTCOME_ADVICE)) {
      const row = rowAdvice(type);
      if (/same id|new id|`--again`/.test(row))
        expect([type, row]).toEqual([type, expect.stringMatching(/campaign/i)]);
      expect(row).not.toMatch(/temporal-media (video|image|edit)/);
    }
  });

  it('is about a row where the advice on a call would leave the campaign', () => {
    expect(rowAdvice('failed/capacity')).toContain('`temporal-media campaign retry ID`');
    expect(rowAdvice('rejected/price_changed')).toBe(OUTCOME_ADVICE['rejected/price_changed'][0]);
    expect(rowAdvice('completed')).toBe('');
  });
});

describe('where an open video stands', () => {
  const video = { ...makeVideoTask(), account: 'studio@0a1b2c3d' };
  const base = { creationKey: 'order-7', taskId: video.taskId, video, watch: null };

  it('has a situation for every phase and every trouble of a poll', () => {
    for (const phase of PHASES)
      for (const error of POLL_ERROR_CLASSES) {
        const watch = { lastError: { class: error } } as never;
        const [name, values] = videoSituation({ ...base, phase, watch });
        expect(SITUATION_NAMES).toContain(name);
        expect(situation(name, values).text).not.toMatch(/undefined|null|CREDENTIAL|ACCOUNT/);
      }
  });

  it('[C7.3] names the credential and the account that the service refuses', () => {
    const watch = { lastError: { class: 'credentials', httpStatus: 403 } } as never;
    const { text } = situation(...videoSituation({ ...base, phase: 'watching', watch }));
    expect(text).toContain('the key of credential studio.');
    expect(text).toContain('account studio@0a1b2c3d.');
  });
});
