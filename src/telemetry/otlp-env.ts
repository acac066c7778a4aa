// What the standard OTEL_* variables ask for. Only traces are sent, as JSON over HTTP.

type Env = Readonly<Record<string, string | undefined>>;

export interface OtlpTarget {
  url: string;
  headers: Record<string, string>;
  timeout_ms: number;
  /** Attributes of the resource, `service.name` among them. */
  resource: Record<string, string>;
}

export type OtlpWish = { ok: true; target: OtlpTarget } | { ok: false; reason: string };

const TIMEOUT_MS = 10_000;

/** Where spans go; undefined: nobody asked for any. A wish that cannot be carried out has a reason. */
export function otlpWish(env: Env): OtlpWish | undefined {
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim();
  const common = env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim();
  if (!own && !common) return undefined;
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none') return undefined;
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/json';
  if (protocol === 'grpc') {
    return { ok: false, reason: 'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; only http is spoken, usually on port 4318' };
  }
  const url = own || `${(common ?? '').replace(/\/+$/, '')}/v1/traces`;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { ok: false, reason: `the endpoint ${JSON.stringify(url)} is not an http or https URL` };
  }
  return { ok: true, target: { url, ...headersAndTime(env), resource: resourceOf(env) } };
}

function headersAndTime(env: Env): Pick<OtlpTarget, 'headers' | 'timeout_ms'> {
  const headers = {
    ...pairs(env['OTEL_EXPORTER_OTLP_HEADERS']),
    ...pairs(env['OTEL_EXPORTER_OTLP_TRACES_HEADERS']),
  };
  const timeout = Number(env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'] || env['OTEL_EXPORTER_OTLP_TIMEOUT']);
  return { headers, timeout_ms: timeout > 0 ? Math.min(timeout, 60_000) : TIMEOUT_MS };
}

function resourceOf(env: Env): Record<string, string> {
  const named = pairs(env['OTEL_RESOURCE_ATTRIBUTES']);
  return {
    'service.name': 'agent-run',
    ...named,
    ...(env['OTEL_SERVICE_NAME'] ? { 'service.name': env['OTEL_SERVICE_NAME'] } : {}),
  };
}

/** "a=b,c=d%20e", as W3C Baggage writes it; what is no pair is left out. */
function pairs(text = ''): Record<string, string> {
  const entries = text.split(',').flatMap((part) => {
    const at = part.indexOf('=');
    const [key, value] = [part.slice(0, at).trim(), decoded(part.slice(at + 1).trim())];
    return at > 0 && key !== '' ? [[key, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // URIError: a percent sign that means itself
  }
}
