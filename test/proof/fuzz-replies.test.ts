import { REPLY_PARSERS } from './fuzz/reply-parsers';
import { fuzzSuite } from './fuzz/fuzz-suite';

fuzzSuite(
  'replies',
  REPLY_PARSERS.map(({ name }) => name),
  () => Promise.resolve(REPLY_PARSERS),
);
