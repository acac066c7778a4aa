import { mapStrings } from '../core/map-strings.ts';
import { otlpWish } from '../telemetry/otlp-env.ts';
import { VERSION } from './version.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Env } from './place.ts';

/** The way to a collector when the environment names one. What cannot be carried out is a problem of the tracing, not of the run. */
export async function startTracing(env: Env, redact: (text: string) => string): Promise<Tracing | undefined> {
  const wish = otlpWish(env);
  if (!wish) return undefined;
  if (!wish.ok) {
    return {
      subscriber: { name: 'telemetry', onEvent() {} },
      close: async () => redact(`no spans are sent: ${wish.reason}`),
    };
  }
  const { openTracing } = await import('../telemetry/tracing.ts');
  const target = { ...wish.target, resource: mapStrings(wish.target.resource, redact) };
  const tracing = openTracing(target, VERSION, env['TRACEPARENT']);
  return {
    subscriber: tracing.subscriber,
    async close(ms) {
      const problem = await tracing.close(ms);
      return problem === undefined ? undefined : redact(problem); // the address may hold a password
    },
  };
}
