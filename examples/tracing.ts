// Traces a call from end to end: the client, its workflow, the activities, and the requests to the service.
import { Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { Client, type ClientOptions } from '@temporalio/client';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import { createMediaWorker } from 'temporal-media/worker';

/** Call once per process, before creating a worker or client. Call `provider.shutdown()` before it exits. */
export function startTracing(service: string, exporter: SpanExporter) {
  const resource = new Resource({ 'service.name': service });
  const spanProcessor = new BatchSpanProcessor(exporter);
  const provider = new NodeTracerProvider({ resource, spanProcessors: [spanProcessor] });
  provider.register();
  return { provider, tracing: new OpenTelemetryPlugin({ resource, spanProcessor }) };
}

/** For your own worker, pass `plugins: [new MediaPlugin(), tracing]`. */
export function tracedWorker(tracing: OpenTelemetryPlugin, env = process.env) {
  const workflows = { workflowsPath: require.resolve('./workflows') };
  return createMediaWorker({ env, workflows, worker: { plugins: [tracing] } });
}

export function tracedClient(tracing: OpenTelemetryPlugin, options: ClientOptions) {
  return new Client({ ...options, plugins: [tracing] });
}
