import { RECORD_PARSERS } from './fuzz/record-parsers';
import { fuzzSuite } from './fuzz/fuzz-suite';

fuzzSuite(
  'records',
  RECORD_PARSERS.map(({ name }) => name),
  () => Promise.resolve(RECORD_PARSERS),
);
