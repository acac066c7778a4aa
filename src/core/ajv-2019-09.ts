export { Ajv2019 } from 'ajv/dist/2019.js';
