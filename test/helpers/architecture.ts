import { posix } from 'node:path';
import { type ParsedSource, parseSource, type Source } from './imports.ts';

const LAYER_1 =
  'agent model tools workspace policy budget output subscribers journal config context verify prompts sandbox reports telemetry'.split(
    ' ',
  );
const FRONT_DOOR = ['run', 'config', 'core', 'reports', 'batch', 'publish'];

/** For each folder of src, the other folders it may import. */
export const LAYERS: Record<string, readonly string[]> = {
  core: [],
  ...Object.fromEntries(LAYER_1.map((folder) => [folder, ['core']])),
  run: ['core', ...LAYER_1],
  batch: ['run', 'core', ...LAYER_1],
  publish: ['run', 'core', ...LAYER_1],
  cli: FRONT_DOOR,
  action: FRONT_DOOR,
  api: FRONT_DOOR,
};

/** For each package, the folders of src that may import it. */
export const HOMES: Record<string, readonly string[]> = {
  '@actions/core': ['subscribers', 'action'],
  '@anthropic-ai/sdk': ['model'],
  ajv: ['core'],
  'ajv-formats': ['core'],
  execa: ['workspace'],
  ignore: ['workspace'],
  'jsonc-parser': ['config'],
  liquidjs: ['core'],
  picomatch: ['core'],
  'simple-git': ['workspace'],
  tinyglobby: ['workspace'],
  unbash: ['policy'],
  yaml: ['config'],
  openai: ['model'],
  '@modelcontextprotocol/client': ['tools'],
  '@opentelemetry/api': ['telemetry'],
  '@opentelemetry/exporter-trace-otlp-http': ['telemetry'],
  '@opentelemetry/resources': ['telemetry'],
  '@opentelemetry/sdk-trace-base': ['telemetry'],
  '@anthropic-ai/bedrock-sdk': ['model'],
  '@anthropic-ai/vertex-sdk': ['model'],
  yargs: ['cli'],
  // Types only, of @types/sarif.
  sarif: ['reports'],
};

export const MAX_LINES = 300;

/** One sentence for each rule of the architecture that the files under src break. */
export function findViolations(sources: readonly Source[]): string[] {
  const files = sources.map(parseSource);
  return [...files.flatMap((file) => [...shapeOf(file), ...importsOf(file)]), ...cyclesOf(files)];
}

/** The name of the package an import reaches: `ajv/dist/2020.js` is `ajv`. */
export function packageOf(request: string): string {
  return request
    .split('/')
    .slice(0, request.startsWith('@') ? 2 : 1)
    .join('/');
}

function shapeOf(file: ParsedSource): string[] {
  const broken: string[] = [];
  const lines = file.text.trimEnd().split('\n').length;
  if (lines > MAX_LINES) broken.push(`${file.path} has ${lines} lines; the limit is ${MAX_LINES}`);
  if (posix.basename(file.path) === 'index.ts' && file.onlyReExports) {
    broken.push(`${file.path} only re-exports; import from the files themselves`);
  }
  if (posix.dirname(file.path).split('/').includes('utils')) {
    broken.push(`${file.path} lies in a utils folder; put it beside its user or in core`);
  }
  if (LAYERS[folderOf(file.path)] === undefined) broken.push(`${file.path} lies in no known folder of src`);
  return broken;
}

function importsOf(file: ParsedSource): string[] {
  return file.imports.flatMap((request) => {
    if (request === undefined) return [`${file.path} imports a computed name; write it as a literal`];
    if (request.startsWith('node:')) return [];
    const broken = request.startsWith('.') ? layerBroken(file.path, request) : homeBroken(file.path, request);
    return broken ? [broken] : [];
  });
}

function layerBroken(path: string, request: string): string | undefined {
  const target = resolve(path, request);
  if (!target.startsWith('src/')) {
    return target.endsWith('.json') ? undefined : `${path} imports ${target}, which lies outside src`;
  }
  const [from, to] = [folderOf(path), folderOf(target)];
  if (from === to || LAYERS[from]?.includes(to)) return undefined;
  return `${path} imports ${target}; ${from} may import ${LAYERS[from]?.join(', ') || 'nothing'}`;
}

function homeBroken(path: string, request: string): string | undefined {
  const name = packageOf(request);
  const homes = HOMES[name];
  if (homes?.includes(folderOf(path))) return undefined;
  return homes
    ? `${path} imports ${name}, whose home is ${homes.join(' or ')}`
    : `${path} imports ${name}, which has no home in src`;
}

function cyclesOf(files: readonly ParsedSource[]): string[] {
  const edges = new Map(files.map((file) => [file.path, targetsOf(file)]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push(`import cycle: ${[...trail.slice(start), path].join(' -> ')}`);
    if (start >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) walk(path, []);
  return cycles;
}

function targetsOf(file: ParsedSource): string[] {
  return file.imports.flatMap((request) => (request?.startsWith('.') ? [resolve(file.path, request)] : []));
}

function resolve(path: string, request: string): string {
  return posix.join(posix.dirname(path), request);
}

function folderOf(path: string): string {
  const [, folder, ...rest] = path.split('/');
  return rest.length > 0 ? (folder ?? '') : '';
}
