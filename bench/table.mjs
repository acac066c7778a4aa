// Rows beside what the budget file says of them, as text. Nothing here fails: a drift is for people to look at.

/** What may lie between two measurements of the same program. */
const NOISE = 0.15;

/** Adds target, accepted value and drift; both may differ by the major version of Node. */
export function withBudget(rows, budget, major) {
  return rows.map((row) => {
    const { target, accepted, at_least = false } = budget[row.name] ?? {};
    const facts = { target: byVersion(target, major), accepted: byVersion(accepted, major) };
    return { ...row, ...facts, at_least, verdict: verdictOf(row.value, { ...facts, at_least }) };
  });
}

function byVersion(figure, major) {
  return typeof figure === 'object' && figure !== null ? (figure[major] ?? null) : (figure ?? null);
}

function verdictOf(value, { target, accepted, at_least }) {
  const sign = at_least ? -1 : 1;
  if (accepted !== null && sign * (value - accepted) > NOISE * accepted) return 'DRIFT';
  if (target === null) return '';
  return sign * (value - target) <= 0 ? 'ok' : 'above target';
}

/** The table as lines of text. */
export function tableOf(rows, title) {
  const head = ['figure', 'measured', 'accepted', 'drift', 'target', '', 'agent-run / minimal'];
  const lines = [head, ...rows.map(cellsOf)];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const text = lines.map((line) =>
    line
      .map((cell, at) => pad(cell, widths[at], at))
      .join('  ')
      .trimEnd(),
  );
  return `${[title, '', ...text].join('\n')}\n`;
}

function cellsOf(row) {
  const { value, unit, target, accepted, at_least, verdict } = row;
  const drift = accepted === null ? '' : `${value >= accepted ? '+' : ''}${((value / accepted - 1) * 100).toFixed(0)}%`;
  const sides = row.ours === undefined ? '' : `${number(row.ours)} / ${number(row.reference)} ${row.unit_of_sides}`;
  const goal = target === null ? '' : `${at_least ? '>=' : '<='} ${number(target)}`;
  const measured = `${number(value)} ${unit}`.trim();
  return [row.name, measured, accepted === null ? '' : number(accepted), drift, goal, verdict, sides];
}

function number(value) {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function pad(cell, width, column) {
  return column >= 1 && column <= 4 ? cell.padStart(width) : cell.padEnd(width);
}
