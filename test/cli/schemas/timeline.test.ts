import { buildTimeline } from '../../../src/replay/timeline/build-timeline';
import { goldenTargets } from '../../replay/timeline/golden-targets';
import { expectDocumented } from './documented';

test('the timeline of every golden history is what its schema says', () => {
  for (const target of goldenTargets()) expectDocumented('timeline', buildTimeline(target));
});
