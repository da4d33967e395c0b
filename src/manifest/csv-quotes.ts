/** Where a character of CSV is: before a cell, in one without or with quotes, behind a quote in it that may be its last. */
type Place = 'before' | 'plain' | 'quoted' | 'quote';

/**
 * CSV without the blanks between a separator and the quotes of a cell, which people write: `a, "b, c"`. The parser
 * would take such a cell for one without quotes. Blanks of cells without quotes are part of their text.
 */
export async function* closedUp(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<string> {
  let place: Place = 'before';
  let blanks = '';
  for await (const piece of text) {
    let kept = '';
    for (const sign of piece) {
      const isEnd = sign === delimiter || sign === '\n';
      if (place === 'quoted') {
        if (sign === '"') place = 'quote';
        kept += sign;
      } else if (!isEnd && (sign === ' ' || sign === '\t') && place !== 'plain') blanks += sign;
      else if (sign === '"' && (place === 'before' || blanks === '') && place !== 'plain') {
        place = 'quoted';
        [kept, blanks] = [kept + sign, ''];
      } else {
        kept += place === 'quote' && isEnd ? sign : blanks + sign;
        blanks = '';
        place = isEnd ? 'before' : 'plain';
      }
    }
    yield kept;
  }
  if (place !== 'quote') yield blanks;
}
