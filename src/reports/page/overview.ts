// What a person asks first: how did it end, why, what did it use.

import type { PageRun } from '../page-data.ts';
import { bodyView } from './bodies.ts';
import { h, section, table } from './dom.ts';

const SIGNS: Record<PageRun['status'], string> = { success: '✓', failure: '✕', cancelled: '■', unfinished: '…' };

/** The verdict: a word and a sign, not a colour alone. */
export function verdict(run: PageRun): HTMLElement {
  const sign = h('span', { 'aria-hidden': 'true' }, SIGNS[run.status]);
  return h('span', { class: `verdict ${run.status}` }, sign, ` ${run.status}`);
}

export function overview(run: PageRun): HTMLElement {
  const code = run.exit_code === null ? '' : `exit code ${run.exit_code}`;
  const cause = h('p', { class: 'cause' }, h('code', {}, run.exit_reason), code === '' ? null : ` · ${code}`);
  const message = run.message === '' ? null : h('p', { class: 'message' }, run.message);
  return h(
    'header',
    { class: `overview ${run.status}`, id: 'overview' },
    h('div', { class: 'headline' }, h('h1', {}, run.task), verdict(run)),
    cause,
    message,
    h('dl', { class: 'figures' }, ...run.figures.map(([name, value, note]) => figure(name, value, note))),
  );
}

function figure(name: string, value: string, note: string): HTMLElement {
  return h('div', {}, h('dt', {}, name), h('dd', {}, value), note === '' ? null : h('dd', { class: 'quiet' }, note));
}

/** Titled lists of what a reader must not miss. */
export function notes(run: PageRun): HTMLElement | null {
  if (run.notes.length === 0) return null;
  const lists = run.notes.map(({ title, tone, lines }) =>
    h('div', { class: `note ${tone}` }, h('h3', {}, title), h('ul', {}, ...lines.map((line) => h('li', {}, line)))),
  );
  return section('notes', 'What to know', ...lists);
}

export function limits(run: PageRun): HTMLElement {
  const rows = run.limits.map(({ name, used, most, share }) => {
    const bar = h('meter', { min: 0, max: 1, value: share, high: 0.9, 'aria-label': `${name}: ${used} of ${most}` });
    return h('div', { class: 'limit' }, h('span', {}, name), bar, h('span', { class: 'quiet' }, `${used} of ${most}`));
  });
  const facts = run.facts.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)));
  return section(
    'facts',
    'Limits and circumstances',
    h('div', { class: 'columns' }, h('div', { class: 'limits' }, ...rows), h('dl', { class: 'facts' }, ...facts)),
  );
}

export function findings({ findings: all }: PageRun): HTMLElement | null {
  if (all === null) return null;
  if (all.length === 0) return section('findings', 'Findings', h('p', { class: 'quiet' }, 'None.'));
  const rows = all.map(({ level, place, title, message }) => [
    h('span', { class: `level ${level}` }, level),
    h(
      'div',
      {},
      title === '' ? null : h('strong', {}, title),
      h('code', { class: 'place' }, place),
      h('div', {}, message),
    ),
  ]);
  return section('findings', `Findings (${all.length})`, table('Findings', ['Level', 'Finding'], rows));
}

/** The output, and beside it the schema that it was held against. */
export function output({ output: value, schema }: PageRun): HTMLElement {
  const shown = value === null ? h('p', { class: 'quiet' }, 'The run gave no output.') : bodyView('Output', value);
  const beside = schema === null ? null : bodyView('Its schema', schema);
  return section('output', 'Output', h('div', { class: 'columns' }, shown, beside));
}

export function denials({ denials: all }: PageRun, go: (entry: number) => void): HTMLElement | null {
  if (all.length === 0) return null;
  const rows = all.map(({ tool, rule, reason, entry }) => {
    const name = h('button', { type: 'button', class: 'link', disabled: entry < 0 }, tool);
    name.addEventListener('click', () => go(entry));
    return [name, rule, reason];
  });
  return section('denials', `Denied calls (${all.length})`, table('Denied calls', ['Tool', 'Rule', 'Why'], rows));
}
