import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  COMMAND_ERRORS,
  ERROR_TYPES,
  errorType,
  EXIT,
  EXIT_MEANINGS,
} from '../../packages/cli/src/shared/exit-codes';
import { FAILURE_TABLE } from '../../src/domain/failure-table';
import { readSources, ROOT } from '../support/sources';

describe('exit codes', () => {
  test('every code is explained once', () => {
    expect(EXIT_MEANINGS.map(([code]) => code)).toEqual(Object.values(EXIT));
  });

  test.each([
    ['still_running', 75],
    ['failed/moderation', 3],
    ['rejected/moderation', 3],
    ['failed/capacity', 4],
    ['failed/quota', 5],
    ['cancelled', 5],
    ['unconfirmed', 5],
    ['results_lost', 5],
    ['task_unknown', 5],
    ['spend_not_confirmed', 6],
    ['rejected/invalid_request', 65],
    ['rejected/not_sent', 69],
    ['temporal_unreachable', 69],
    ['artifacts/destination_occupied', 73],
    ['content_unavailable/not_video', 76],
    ['rejected/credentials', 77],
    ['rejected/account_not_configured', 78],
    ['interrupted', 130],
  ])('%s is %i: scripts rely on it', (type, code) => {
    expect(errorType(type).exitCode).toBe(code);
  });
});

describe('the registry of error types', () => {
  test('has one row per type, each with a sentence, a hint and a code that is not success', () => {
    expect(new Set(ERROR_TYPES.map(({ type }) => type)).size).toBe(ERROR_TYPES.length);
    for (const { exitCode, meaning, hint } of ERROR_TYPES) {
      expect(meaning).toMatch(/\.$/);
      expect(hint).not.toBe('');
      expect(EXIT_MEANINGS.map(([code]) => code)).toContain(exitCode);
      expect(exitCode).not.toBe(EXIT.done);
    }
  });

  test('every failure of a request is in it with the words of the failure table', () => {
    for (const { type, meaning, hint } of FAILURE_TABLE)
      expect(errorType(type)).toMatchObject({ type, meaning, hint });
  });

  test('what nothing else knows is unexpected', () => {
    expect(errorType('made_up')).toBe(errorType('unexpected'));
  });

  test('every error of the commands is raised somewhere in the code', () => {
    const code = readSources()
      .filter((source) => source.path.startsWith('packages/cli/'))
      .map(({ text }) => text)
      .join('\n');
    const raised = Object.keys(COMMAND_ERRORS).filter(
      (type) => code.includes(`'${type}'`) || type.startsWith('artifacts/'),
    );
    expect(raised).toEqual(Object.keys(COMMAND_ERRORS));
  });
});

describe('docs/errors.md', () => {
  const rows = readFileSync(path.join(ROOT, 'docs', 'errors.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| [`\d]/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

  test('shows every exit code with its meaning and the outcomes that have it, and no other', () => {
    const shown = rows.filter(([code]) => /^\d/.test(code ?? ''));
    const outcomes = (code: number) =>
      ERROR_TYPES.filter(({ type, exitCode }) => exitCode === code && !(type in COMMAND_ERRORS))
        .map(({ type }) => `\`${type}\``)
        .join(', ');
    expect(shown).toEqual(EXIT_MEANINGS.map(([code, meaning]) => [String(code), meaning, outcomes(code)]));
  });

  test('shows every type of a command as the code has it, in the same order, and no other', () => {
    const shown = rows.filter(([type]) => type?.startsWith('`'));
    expect(shown).toEqual(
      ERROR_TYPES.filter(({ type }) => type in COMMAND_ERRORS).map(({ type, exitCode, meaning }) => [
        `\`${type}\``,
        String(exitCode),
        meaning,
      ]),
    );
  });
});
