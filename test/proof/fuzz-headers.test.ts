import { HEADER_PARSERS } from './fuzz/header-parsers';
import { fuzzSuite } from './fuzz/fuzz-suite';

fuzzSuite(
  'headers',
  HEADER_PARSERS.map(({ name }) => name),
  () => Promise.resolve(HEADER_PARSERS),
);
