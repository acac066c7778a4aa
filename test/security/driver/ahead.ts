/** How many cases are under way at once: they mostly wait for other processes. */
const AT_ONCE = 3;

/**
 * Does the work for an item when it is asked for, and begins that of the next ones: tests of a file run one after the
 * other, and on a machine with two cores so do the files.
 */
export function ahead<I, R>(items: readonly I[], work: (item: I) => Promise<R>): (item: I) => Promise<R> {
  const begun = new Map<I, Promise<R>>();
  const begin = (item: I): Promise<R> => {
    const known = begun.get(item);
    if (known) return known;
    const promise = work(item);
    promise.catch(() => {}); // thrown again where it is awaited
    begun.set(item, promise);
    return promise;
  };
  return async (item) => {
    const at = items.indexOf(item);
    const [promise = begin(item)] = items.slice(at, at + AT_ONCE).map(begin);
    return promise;
  };
}
