import { isIP } from 'node:net';
import { UsageError } from '../core/errors.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The proxy the environment names for a URL, unless NO_PROXY excludes its host. */
export function proxyFor(url: URL, env: Env): URL | undefined {
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const names = [name, name.toUpperCase()];
  const from = names.find((candidate) => env[candidate]?.trim());
  if (!from || isExcluded(url, env['no_proxy']?.trim() || env['NO_PROXY']?.trim() || '')) return undefined;
  const text = env[from]?.trim() ?? '';
  const proxy = URL.canParse(text.includes('://') ? text : `http://${text}`)
    ? new URL(text.includes('://') ? text : `http://${text}`)
    : undefined;
  if (proxy && (proxy.protocol === 'http:' || proxy.protocol === 'https:')) return proxy;
  // The value may hold a password, so it is not shown.
  throw new UsageError(`${from} is not an http or https URL; write it as http://HOST:PORT`);
}

/** The header that carries a proxy's user and password, if its URL has them. */
export function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function isExcluded(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, onlyPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) ? `[${entry}]` : entry) ?? [];
      const suffix = name.replace(/^\*?\./, '');
      return (host === suffix || host.endsWith(`.${suffix}`)) && (onlyPort === undefined || onlyPort === port);
    });
}
