import { canary } from '../../support/canary';

/** The secrets of one run. None has a shape that a pattern would catch by itself but for the place where it stands. */
export const KEY = canary('key', 'Kq7Zr4x', (core) => `${core}/9m`);
export const COOKIE = canary('cookie', 'Ck2Wd8n');
export const SIGNATURE = canary('signature', 'Sg5Tb3j');
export const PROXY_PASSWORD = canary('proxy password', 'Px9Lf6v');
export const PROMPT = canary(
  'prompt',
  'Pm3Hs1g',
  (core) => `${core} glides past the old brass lantern at dawn`,
);
export const FILE_NAME = canary('file name', 'Fn8Yc4k');

/** 0 hits of these anywhere. */
export const SECRETS = [KEY, COOKIE, SIGNATURE, PROXY_PASSWORD, FILE_NAME];

/** A prompt of its own for each case, by which the sandbox tells them apart. */
export const promptOf = (name: string): string => `${PROMPT.value} (case ${name}.)`;
export const caseOf = (name: string): string => `(case ${name}.)`;
