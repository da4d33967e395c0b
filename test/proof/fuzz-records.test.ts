import { fuzzSuite } from './fuzz/fuzz-suite';
import { RECORD_PARSERS } from './fuzz/record-parsers';

fuzzSuite(
  'records',
  RECORD_PARSERS.map(({ name }) => name),
  () => Promise.resolve(RECORD_PARSERS),
);
