/**
 * A path or address of the configuration as it may be shown: no user-info, no query, no fragment (C5.4a, C5.4b), also
 * where somebody forgot the scheme.
 */
export function shownLocation(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#]*@/i, (head) => head.slice(0, head.indexOf('//') + 2))
    .replace(/^[^/?#:@]*:[^/?#@]*@/, '')
    .replace(isAddress(text) ? /[?#].*$/s : /\?.*$/s, '');
}

const isAddress = (text: string): boolean => /^([a-z][a-z0-9+.-]*:)?\/\//i.test(text);
