/** A copy of plain data in which every string, keys excepted, went through `change`. */
export function mapStrings<T>(value: T, change: (text: string) => string): T {
  return map(value, change) as T; // the same shape, other strings
}

function map(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => map(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item, change)]));
}
