// The parts of `yaml` that are used, to be loaded lazily: the package is CommonJS, and in a bundle of split chunks a
// dynamic import of it by name yields `default` only.

export { isAlias, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
