import { isIP } from 'node:net';

/** A host a task allows: an ASCII name or address, all its sub-domains with `*.`, and the ports it may be asked on. */
export interface HostRule {
  name: string;
  subdomains: boolean;
  ports: readonly number[];
}

const WEB_PORTS = [80, 443];
const NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Reads "registry.example.com", "*.example.com" or "localhost:8080"; the text of the mistake otherwise. */
export function parseHostRule(text: string): HostRule | { error: string } {
  const [, star, host = '', port] = /^(\*\.)?(\[[0-9a-f:]+\]|[^:]*?)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const name = normalName(host);
  if (name === undefined)
    return { error: `"${text}" is no host name; write "example.com", "*.example.com" or "example.com:8080"` };
  if (star && isIP(name)) return { error: `"${text}": an address has no sub-domains` };
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65535))
    return { error: `"${text}": port ${port} is out of range` };
  return { name, subdomains: star !== undefined, ports: port === undefined ? WEB_PORTS : [Number(port)] };
}

/** The name as it is compared: ASCII lower case, no trailing dot, no brackets; undefined when it is none. */
export function normalName(host: string): string | undefined {
  const name = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (isIP(name)) return name;
  // A name of digits only is an address in disguise ("2130706433", "0x7f.1").
  if (!NAME.test(name) || name.length > 253 || /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name)) return undefined;
  return name;
}

/** True when a rule names the host and the port; names are compared whole, never by their end alone. */
export function allowsHost(rules: readonly HostRule[], host: string, port: number): boolean {
  const name = normalName(host);
  if (name === undefined) return false;
  return rules.some(
    (rule) => rule.ports.includes(port) && (rule.name === name || (rule.subdomains && name.endsWith(`.${rule.name}`))),
  );
}

/** Addresses inside the machine or its network, metadata services included. */
export function isInternal(address: string): boolean {
  const v4 = /^(?:::ffff:)?(\d+)\.(\d+)\.\d+\.\d+$/i.exec(address);
  if (!v4) return /^(?:::1?$|f[cd]|fe[89ab]|::ffff:)/i.test(address);
  const [a, b] = [Number(v4[1]), Number(v4[2])];
  return (
    [0, 10, 127].includes(a) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 100 && b >= 64 && b <= 127) ||
    a >= 224
  );
}
