import { Runtime } from '@temporalio/worker';
import { type MetricKey, METRICS, type Metrics, unfailing } from '../domain/metrics';

type Meter = Runtime['metricMeter'];
type Report = (value: number, labels: { readonly [label: string]: string }) => void;

/** Numbers of one worker. */
export interface RuntimeMetrics extends Metrics {
  /** Reports nothing any more: asked for its runtime after the last connection has ended, the SDK begins another one. */
  close(): void;
}

/**
 * Reports on the meter of the SDK's runtime, so that one scrape has its metrics and ours. A runtime that exports none
 * drops them.
 */
export function runtimeMetrics(): RuntimeMetrics {
  let isClosed = false;
  let meter: Meter | undefined;
  let instruments = new Map<MetricKey, Report>();
  const metrics = unfailing({
    record: (key, value, labels) => {
      if (isClosed) return;
      // The SDK ends its runtime with the last connection and begins another one: an instrument of the old one fails.
      const now = Runtime.instance().metricMeter;
      if (now !== meter) [meter, instruments] = [now, new Map<MetricKey, Report>()];
      let instrument = instruments.get(key);
      if (instrument === undefined) instruments.set(key, (instrument = instrumentOf(now, key)));
      instrument(Math.max(0, Math.round(value)), labels);
    },
  });
  return {
    record: (key, value, labels) => metrics.record(key, value, labels),
    close: () => {
      isClosed = true;
    },
  };
}

/** The unit is in the name: an exporter that adds units to names must not add it a second time. */
function instrumentOf(meter: Meter, key: MetricKey): Report {
  const { name, kind, help } = METRICS[key];
  switch (kind) {
    case 'counter': {
      const counter = meter.createCounter(name, undefined, help);
      return (value, labels) => counter.add(value, labels);
    }
    case 'gauge': {
      const gauge = meter.createGauge(name, 'int', undefined, help);
      return (value, labels) => gauge.set(value, labels);
    }
    case 'histogram': {
      const histogram = meter.createHistogram(name, 'int', undefined, help);
      return (value, labels) => histogram.record(value, labels);
    }
  }
}

/** Bounds that fit the histograms of this package, for `histogramBucketOverrides` of an exporter. */
export function histogramBuckets(): { [name: string]: number[] } {
  return Object.fromEntries(
    Object.values(METRICS).flatMap((metric) =>
      'buckets' in metric ? [[metric.name, [...metric.buckets]]] : [],
    ),
  );
}
