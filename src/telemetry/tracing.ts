// Sends the spans of a run over OTLP. Loaded only when the environment asks for it.

import { type Context, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { errorText } from '../core/errors.ts';
import type { Subscriber } from '../core/ports.ts';
import type { OtlpTarget } from './otlp-env.ts';
import { createSpans } from './spans.ts';

export interface Tracing {
  subscriber: Subscriber;
  /** Sends what is left, for at most `ms` milliseconds; what went wrong since the start, or undefined. */
  close(ms: number): Promise<string | undefined>;
}

/** Opens the way to a collector; nothing is sent before the first span ends. */
export function openTracing(target: OtlpTarget, version: string, traceparent: string | undefined): Tracing {
  const { url, headers, timeout_ms, resource } = target;
  const problems: string[] = [];
  const exporter = watched(new OTLPTraceExporter({ url, headers, timeoutMillis: timeout_ms }), problems);
  // Whoever looks at a run that still goes on sees its last turn a second later.
  const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1000, exportTimeoutMillis: timeout_ms });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ ...resource, 'service.version': version }),
    spanProcessors: [processor],
  });
  return {
    subscriber: createSpans(provider.getTracer('agent-run', version), parentOf(traceparent)),
    async close(ms) {
      const done = provider.shutdown().then(
        () => true,
        (error: unknown) => problems.push(errorText(error)) > 0,
      );
      const over = new AbortController();
      const inTime = await Promise.race([done, wait(ms, over.signal)]);
      over.abort();
      if (!inTime) problems.push(`${url} did not take the last spans within ${ms} ms`);
      return problems[0] === undefined ? undefined : `spans were not delivered: ${problems[0]}`;
    },
  };
}

/** The exporter, with what it is told of failures kept. */
function watched(exporter: SpanExporter, problems: string[]): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error) problems.push(errorText(result.error));
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** TRACEPARENT, as CI systems hand it to a step: the run becomes a part of that trace. */
function parentOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags ?? '01', 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

async function wait(ms: number, signal: AbortSignal): Promise<false> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return false;
}
