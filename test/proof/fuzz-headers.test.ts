import { fuzzSuite } from './fuzz/fuzz-suite';
import { HEADER_PARSERS } from './fuzz/header-parsers';

fuzzSuite(
  'headers',
  HEADER_PARSERS.map(({ name }) => name),
  () => Promise.resolve(HEADER_PARSERS),
);
