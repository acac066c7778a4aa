import { describe, expect, test } from 'vitest';
import { otlpWish } from '../../src/telemetry/otlp-env.ts';

const target = (env: Record<string, string>): unknown => {
  const wish = otlpWish(env);
  return wish?.ok ? wish.target : wish;
};

describe('the standard variables', () => {
  test('name no collector by default', () => {
    expect(otlpWish({})).toBeUndefined();
    expect(otlpWish({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' })).toBeUndefined();
  });

  test('name one for all signals, to which the path of traces is added', () => {
    expect(target({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' })).toMatchObject({
      url: 'http://collector:4318/v1/traces',
      timeout_ms: 10_000,
      resource: { 'service.name': 'agent-run' },
    });
  });

  test('name one for traces alone, taken as it is', () => {
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/t', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other' };
    expect(target(env)).toMatchObject({ url: 'https://c/t' });
  });

  test('give headers, time and what the service is called', () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-team = ci,broken,=none',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=ci,percent=100%',
      OTEL_SERVICE_NAME: 'reviews',
    };
    expect(target(env)).toEqual({
      url: 'http://c/v1/traces',
      headers: { authorization: 'Bearer abc', 'x-team': 'ci' },
      timeout_ms: 2500,
      resource: { 'service.name': 'reviews', 'deployment.environment.name': 'ci', percent: '100%' },
    });
  });

  test.each([[{ OTEL_SDK_DISABLED: 'true' }], [{ OTEL_TRACES_EXPORTER: 'none' }]])('switch it off: %j', (off) => {
    expect(otlpWish({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', ...off })).toBeUndefined();
  });

  test.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'only http is spoken'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'is not an http or https URL'],
  ])('that cannot be followed say why: %j', (env, reason) => {
    expect(otlpWish({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', ...env })).toMatchObject({
      ok: false,
      reason: expect.stringContaining(reason) as unknown,
    });
  });
});
