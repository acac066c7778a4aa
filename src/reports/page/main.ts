import type { PageData, PageRun } from '../page-data.ts';
import { carried } from './carried.ts';
import { charts } from './charts.ts';
import { button, h, table } from './dom.ts';
import { denials, findings, limits, notes, output, overview, verdict } from './overview.ts';
import { timeline } from './timeline.ts';

/** Written by the report beside this script, in this form. */
const data = JSON.parse(document.getElementById('page-data')?.textContent ?? '') as PageData;
const app = document.getElementById('app') ?? document.body;

app.replaceChildren(
  h('a', { class: 'skip', href: '#timeline' }, 'Skip to the timeline'),
  bar(),
  ...(data.problems.length > 0 ? [problems(data.problems)] : []),
  ...(data.runs.length > 1 ? [runTable()] : []),
  h('main', { id: 'run', tabindex: -1 }),
);
/** That of the run that is shown. */
let search: HTMLInputElement | undefined;
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  search?.focus();
});
// Nobody opens a report of many runs for those that went well.
const first = Math.max(
  0,
  data.runs.findIndex(({ status }) => status !== 'success'),
);
show(Number(/^#run-(\d+)$/.exec(location.hash)?.[1] ?? first + 1) - 1, false);

function bar(): HTMLElement {
  const name = h('span', { class: 'brand' }, 'agent-run report');
  const several = data.runs.length > 1 ? h('span', { class: 'quiet' }, `${data.title}: ${data.subtitle}`) : null;
  return h('div', { class: 'bar' }, name, several, button('Light or dark', otherTheme, { class: 'theme' }));
}

/** What the system wants is the start; the button turns it around. */
function otherTheme(): void {
  const root = document.documentElement;
  const now = root.dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  root.dataset['theme'] = now === 'dark' ? 'light' : 'dark';
}

function problems(lines: readonly string[]): HTMLElement {
  const list = h('ul', {}, ...lines.map((line) => h('li', {}, line)));
  return h('div', { class: 'note bad', role: 'alert' }, h('h2', {}, 'Not reported'), list);
}

function runTable(): HTMLElement {
  const rows = data.runs.map((run, index) => {
    const figures = new Map(run.figures.map(([name, value]) => [name, value]));
    const name = button(run.task, () => show(index, true), { class: 'link' });
    const cells = ['Turns', 'Cost', 'Tokens in', 'Time'].map((figure) => figures.get(figure) ?? '');
    return [name, verdict(run), run.exit_reason, ...cells];
  });
  const heads = ['Task', 'Verdict', 'Why', 'Turns', 'Cost', 'Tokens in', 'Time'];
  return h('nav', { class: 'runs', 'aria-label': 'Runs' }, table('Runs', heads, rows));
}

function show(index: number, chosen: boolean): void {
  const run = data.runs[index] ?? data.runs[0];
  const main = document.getElementById('run');
  if (!main) return;
  if (!run) return main.replaceChildren(h('p', { class: 'loading' }, 'There is no run to show.'));
  main.replaceChildren(...parts(run));
  for (const [at, row] of document.querySelectorAll('.runs tbody tr').entries())
    row.setAttribute('aria-current', String(data.runs[at] === run));
  if (!chosen) return;
  history.replaceState(null, '', `#run-${index + 1}`);
  main.focus();
  main.scrollIntoView();
}

function parts(run: PageRun): HTMLElement[] {
  const rows = timeline(run);
  search = rows.search;
  const all = [
    overview(run),
    notes(run),
    findings(run),
    output(run),
    charts(run.turns, rows.go),
    denials(run, rows.go),
    carried(run, rows.go),
    limits(run),
    rows.element,
  ];
  return all.filter((part) => part !== null);
}
