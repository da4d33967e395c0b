import { makeMp4 } from '../stores/artifacts/make-media';
import { fuzzSuite } from './fuzz/fuzz-suite';
import { MEDIA_PARSER_NAMES, mediaParsers } from './fuzz/media-parsers';

fuzzSuite('media', MEDIA_PARSER_NAMES, async () => mediaParsers(await makeMp4(2)));
