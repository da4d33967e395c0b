/** A path or address of the configuration as it may be shown: no user-info, no query, no fragment (C5.4). */
export function shownLocation(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#]*@/i, (head) => `${head.slice(0, head.indexOf('//'))}//`)
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^?#]*)[?#].*$/is, '$1');
}
