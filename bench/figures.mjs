// Medians, rounds in turns, and the rows of the table.

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/**
 * Runs the sides in turns, so that a busy moment of the machine hits all of them; one round before is not counted, unless
 * there is but one. Answers with each side's results.
 */
export async function inTurns(rounds, sides) {
  const results = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (let round = rounds === 1 ? 1 : 0; round <= rounds; round += 1) {
    for (const [name, run] of Object.entries(sides)) {
      const result = await run();
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}

/** The median of one number of each result. */
export function medianOf(results, pick) {
  return median(results.map(pick));
}

/** The time between a reply and the next request, for each turn but the last. */
export function overheads({ requests }) {
  return requests.slice(1).map(({ at }, index) => at - requests[index].ended);
}

/** A table row: what was measured and, where it is a ratio, its two sides. */
export function row(name, value, { ours, reference, unit = 'x', unit_of_sides = 'ms' } = {}) {
  return { name, value, unit, ...(ours === undefined ? {} : { ours, reference, unit_of_sides }) };
}

/** A row that compares two sides by the quotient of their medians. */
export function ratio(name, ours, reference, unit_of_sides = 'ms') {
  return row(name, ours / reference, { ours, reference, unit_of_sides });
}
