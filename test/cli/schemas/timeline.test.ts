import { scenarioOf } from '../../../packages/cli/src/whatif/scenario';
import { buildTimeline } from '../../../packages/replay/src/timeline/build-timeline';
import { goldenTargets } from '../../replay/timeline/golden-targets';
import { expectDocumented } from './documented';

test('the timeline of every golden history is what its schema says', () => {
  for (const target of goldenTargets()) expectDocumented('timeline', buildTimeline(target));
});

test('the faults of every golden history are a fault file of the sandbox', () => {
  for (const target of goldenTargets()) {
    const { faults } = scenarioOf(buildTimeline(target), 10);
    expectDocumented('faults', faults);
  }
});
