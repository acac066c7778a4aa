// An own file so that a lazy import of the bundle finds the named export of a CommonJS package; so are its siblings.
export { Ajv } from 'ajv';
