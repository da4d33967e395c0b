import { fuzzSuite } from './fuzz/fuzz-suite';
import { REPLY_PARSERS } from './fuzz/reply-parsers';

fuzzSuite(
  'replies',
  REPLY_PARSERS.map(({ name }) => name),
  () => Promise.resolve(REPLY_PARSERS),
);
