import { ADDRESS_PARSERS } from './fuzz/address-parsers';
import { fuzzSuite } from './fuzz/fuzz-suite';

fuzzSuite(
  'addresses',
  ADDRESS_PARSERS.map(({ name }) => name),
  () => Promise.resolve(ADDRESS_PARSERS),
);
