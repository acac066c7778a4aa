// The rules of the JUnit schema that GitLab, Jenkins and Surefire share, as a check over a parsed file.
import { XMLParser } from 'fast-xml-parser';

type Node = { [name: string]: Node[] } & { ':@'?: Record<string, string> };

interface Rule {
  required: readonly string[];
  optional: readonly string[];
  children: readonly string[];
}

const COUNTS = ['tests', 'failures', 'errors', 'skipped'];
const RULES: Record<string, Rule> = {
  testsuites: { required: [], optional: ['name', 'time', ...COUNTS], children: ['testsuite'] },
  testsuite: {
    required: ['name', 'tests'],
    optional: ['failures', 'errors', 'skipped', 'time', 'timestamp', 'hostname', 'id', 'package', 'file'],
    children: ['properties', 'testcase', 'system-out', 'system-err'],
  },
  properties: { required: [], optional: [], children: ['property'] },
  property: { required: ['name', 'value'], optional: [], children: [] },
  testcase: {
    required: ['name', 'classname'],
    optional: ['time', 'file', 'line', 'status', 'assertions'],
    children: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
  },
  failure: { required: [], optional: ['message', 'type'], children: ['#text'] },
  error: { required: [], optional: ['message', 'type'], children: ['#text'] },
  skipped: { required: [], optional: ['message'], children: ['#text'] },
};

/** What a JUnit file has against the schema, one sentence each; the counts of suites must be those of their cases. */
export function junitProblems(xml: string): string[] {
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    htmlEntities: true,
  });
  const [root] = (parser.parse(xml) as Node[]).filter((node) => node['?xml'] === undefined);
  if (!root?.['testsuites']) return ['the root is not testsuites'];
  return check('testsuites', root);
}

function check(name: string, node: Node): string[] {
  const rule = RULES[name];
  if (!rule) return [`unknown element ${name}`];
  const attributes = node[':@'] ?? {};
  const given = Object.keys(attributes);
  const children = node[name] ?? [];
  const names = children.map(nameOf);
  return [
    ...rule.required.filter((key) => !given.includes(key)).map((key) => `${name} has no ${key}`),
    ...given
      .filter((key) => !rule.required.includes(key) && !rule.optional.includes(key))
      .map((key) => `${name} has the unknown attribute ${key}`),
    ...names.filter((child) => !rule.children.includes(child)).map((child) => `${name} holds ${child}`),
    ...numbers(name, attributes),
    ...(name === 'testsuite' ? counts(attributes, children) : []),
    ...children.flatMap((child) => (nameOf(child) === '#text' ? [] : check(nameOf(child), child))),
  ];
}

function nameOf(node: Node): string {
  return Object.keys(node).find((key) => key !== ':@') ?? '';
}

function numbers(name: string, attributes: Record<string, string>): string[] {
  const broken = [...COUNTS, 'time', 'line'].filter((key) => !/^\d+(\.\d+)?$/.test(attributes[key] ?? '0'));
  const stamp = attributes['timestamp'] ?? '2026-11-30T11:45:00';
  return [
    ...broken.map((key) => `${name}: ${key} is ${attributes[key]}`),
    ...(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(stamp) ? [] : [`${name}: timestamp is ${stamp}`]),
  ];
}

function counts(attributes: Record<string, string>, children: readonly Node[]): string[] {
  const cases = children
    .filter((child) => nameOf(child) === 'testcase')
    .map((child) => (child['testcase'] ?? []).map(nameOf));
  const found: Record<string, number> = {
    tests: cases.length,
    failures: cases.filter((names) => names.includes('failure')).length,
    errors: cases.filter((names) => names.includes('error')).length,
    skipped: cases.filter((names) => names.includes('skipped')).length,
  };
  return COUNTS.filter((key) => attributes[key] !== String(found[key])).map(
    (key) => `testsuite: ${key} is ${attributes[key]}, found ${found[key]}`,
  );
}
