import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pages } from '../../scripts/write-tables';

const DOCS = path.resolve(__dirname, '..', '..', 'docs');

describe('the pages that say what to do', () =>
  it.each(Object.entries(pages()))('docs/%s is as scripts/write-tables.js writes it', (page, text) =>
    expect(readFileSync(path.join(DOCS, page), 'utf8')).toBe(text),
  ));
