import { uriDecoded } from 'temporal-media/internal/service/proxy-environment';

/**
 * The passwords and keys of the stores in an environment, the password of MEDIA_JOURNAL as written there and decoded. For
 * logs and messages of commands only: a reply of the service never holds them, and a task id may contain a word that is one.
 */
export function storeSecrets(env: NodeJS.ProcessEnv): string[] {
  // Up to the last @ instead of parsing a URL: a password may have characters that a URL does not allow.
  const password = /^\W*postgres(?:ql)?:\/*[^:@/]*:(.+)@/i.exec(env['MEDIA_JOURNAL'] ?? '')?.[1];
  const own = password === undefined ? [] : [password, uriDecoded(password)];
  const others = ['PGPASSWORD', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].map((name) => env[name]);
  return [...new Set([...own, ...others.filter((value) => value !== undefined && value !== '')])] as string[];
}
