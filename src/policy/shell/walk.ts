import type { AndOr, Command, CompoundList, If, Pipeline, PipelineNode, Redirection, Statement, While } from 'unbash';
import { judgeRedirect } from './redirects.ts';
import { judgeSimple } from './simple.ts';
import type { Cwds, Judged, Walk } from './walk-state.ts';

const MAX_CWDS = 16;

function union(...lists: readonly Cwds[]): Cwds {
  const all = [...new Set(lists.flat())];
  return lists.some((list) => list.length === 0) || all.length > MAX_CWDS ? [] : all;
}

/** Judges statements in order and writes them one a line, each followed by its here-documents. */
export async function judgeStatements(
  statements: readonly Statement[],
  start: Cwds,
  walk: Walk,
): Promise<{ readonly script: string; readonly after: Cwds }> {
  let cwds = start;
  let script = '';
  for (const statement of statements) {
    const judged = await judgeNode(statement.command, cwds, walk);
    script += `${judged.emit}\n${judged.bodies.join('')}`;
    cwds = union(judged.ok, judged.fail);
  }
  return { script, after: cwds };
}

async function judgeNode(node: PipelineNode | AndOr, cwds: Cwds, walk: Walk): Promise<Judged> {
  switch (node.type) {
    case 'AndOr':
      return judgeAndOr(node, cwds, walk);
    case 'Pipeline':
      return judgePipeline(node, cwds, walk);
    case 'Command':
      return judgeCommand(node, cwds, walk);
    case 'If':
      return judgeIf(node, cwds, walk);
    case 'While':
      return judgeWhile(node, cwds, walk);
    case 'Subshell': {
      const body = await judgeList(node.body, cwds, walk);
      return { emit: `( ${body.emit} )`, bodies: body.bodies, ok: cwds, fail: cwds };
    }
    case 'BraceGroup': {
      const body = await judgeList(node.body, cwds, walk);
      return { ...body, emit: `{ ${body.emit}; }` };
    }
    case 'Redirected': {
      const redirects = await judgeRedirects(node.redirects, cwds, walk);
      const body = await judgeNode(node.command, cwds, walk);
      // A redirect that fails keeps the body from running, so the old folder stays possible.
      return {
        emit: `${body.emit}${redirects.emit}`,
        bodies: [...body.bodies, ...redirects.bodies],
        ok: body.ok,
        fail: union(body.fail, cwds),
      };
    }
    default:
      walk.refusals.push(`a construct that is not known (${node.type})`);
      return { emit: 'false', bodies: [], ok: cwds, fail: cwds };
  }
}

async function judgeList(list: CompoundList, start: Cwds, walk: Walk): Promise<Judged> {
  let last: Judged = { emit: '', bodies: [], ok: start, fail: start };
  const emits: string[] = [];
  const bodies: string[] = [];
  if (list.commands.length === 0) walk.refusals.push('an empty list of commands');
  for (const [index, statement] of list.commands.entries()) {
    last = await judgeNode(statement.command, index === 0 ? start : union(last.ok, last.fail), walk);
    emits.push(last.emit);
    bodies.push(...last.bodies);
  }
  return { ...last, emit: emits.join('; '), bodies };
}

async function judgeAndOr(node: AndOr, cwds: Cwds, walk: Walk): Promise<Judged> {
  let left: Judged | undefined;
  for (const [index, command] of node.commands.entries()) {
    const operator = node.operators[index - 1];
    if (left === undefined) {
      left = await judgeNode(command, cwds, walk);
      continue;
    }
    const right: Judged = await judgeNode(command, operator === '&&' ? left.ok : left.fail, walk);
    left = {
      emit: `${left.emit} ${operator ?? '&&'} ${right.emit}`,
      bodies: [...left.bodies, ...right.bodies],
      ok: operator === '&&' ? right.ok : union(left.ok, right.ok),
      fail: operator === '&&' ? union(left.fail, right.fail) : right.fail,
    };
  }
  return left ?? { emit: 'false', bodies: [], ok: cwds, fail: cwds };
}

async function judgePipeline(node: Pipeline, cwds: Cwds, walk: Walk): Promise<Judged> {
  const parts: Judged[] = [];
  if (node.commands.length === 0) walk.refusals.push('a ! without a command');
  for (const command of node.commands) parts.push(await judgeNode(command, cwds, walk));
  const emits = parts.map((part, index) => {
    if (node.operators[index] !== '|&') return part.emit;
    return `{ ${part.emit}; } 2>&1`;
  });
  const negated = node.prefixes.length % 2 === 1;
  const emit = `${negated ? '! ' : ''}${emits.join(' | ')}`;
  const bodies = parts.flatMap((part) => part.bodies);
  const only = parts.length === 1 ? parts[0] : undefined;
  // Each side of a pipe runs in a process of its own, so a cd in it ends there.
  if (only === undefined) return { emit, bodies, ok: cwds, fail: cwds };
  return negated ? { emit, bodies, ok: only.fail, fail: only.ok } : { emit, bodies, ok: only.ok, fail: only.fail };
}

async function judgeIf(node: If, cwds: Cwds, walk: Walk): Promise<Judged> {
  let emit = '';
  let pending = cwds;
  const bodies: string[] = [];
  const ends: Cwds[] = [];
  for (const [index, branch] of [node, ...node.elif].entries()) {
    const clause = await judgeList(branch.clause, pending, walk);
    const then = await judgeList(branch.then, clause.ok, walk);
    emit += `${index === 0 ? 'if' : ' elif'} ${clause.emit}; then ${then.emit};`;
    bodies.push(...clause.bodies, ...then.bodies);
    ends.push(then.ok, then.fail);
    pending = clause.fail;
  }
  if (node.else !== undefined) {
    const last = await judgeList(node.else, pending, walk);
    emit += ` else ${last.emit};`;
    bodies.push(...last.bodies);
    ends.push(last.ok, last.fail);
  } else {
    ends.push(pending);
  }
  const after = union(...ends);
  return { emit: `${emit} fi`, bodies, ok: after, fail: after };
}

async function judgeWhile(node: While, cwds: Cwds, walk: Walk): Promise<Judged> {
  const clause = await judgeList(node.clause, cwds, walk);
  const body = await judgeList(node.body, union(clause.ok, clause.fail), walk);
  const after = union(cwds, clause.ok, clause.fail, body.ok, body.fail);
  // A second round would start somewhere else than the first one was judged in.
  if (after.length !== cwds.length) walk.refusals.push('a cd inside a loop');
  return {
    emit: `${node.kind} ${clause.emit}; do ${body.emit}; done`,
    bodies: [...clause.bodies, ...body.bodies],
    ok: after,
    fail: after,
  };
}

async function judgeCommand(node: Command, cwds: Cwds, walk: Walk): Promise<Judged> {
  const simple = await judgeSimple(node, cwds, walk);
  const redirects = await judgeRedirects(node.redirects, cwds, walk);
  return {
    emit: `${simple.emit}${redirects.emit}`,
    bodies: redirects.bodies,
    ok: simple.ok,
    fail: union(simple.fail, cwds),
  };
}

async function judgeRedirects(
  redirects: readonly Redirection[],
  cwds: Cwds,
  walk: Walk,
): Promise<{ readonly emit: string; readonly bodies: readonly string[] }> {
  let emit = '';
  const bodies: string[] = [];
  for (const redirect of redirects) {
    const judged = await judgeRedirect(redirect, { paths: walk.paths, cwds, delimiter: walk.delimiter });
    if ('refused' in judged) {
      walk.refusals.push(judged.refused);
      continue;
    }
    emit += ` ${judged.emit}`;
    if (judged.body !== undefined) bodies.push(judged.body);
    if (judged.writes) walk.writes = true;
  }
  return { emit, bodies };
}
