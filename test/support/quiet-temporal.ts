import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

/** Test output is for test results: Temporal's own logs start at WARN. Set TEST_TEMPORAL_LOG=INFO to see more. */
const level = process.env['TEST_TEMPORAL_LOG'] === 'INFO' ? 'INFO' : 'ERROR';
Runtime.install({
  logger: new DefaultLogger(level),
  telemetryOptions: {
    logging: { forward: {}, filter: makeTelemetryFilterString({ core: level, other: 'ERROR' }) },
  },
  shutdownSignals: [],
});
