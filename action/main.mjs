// What the runner starts: dist/ where it is built, which a version tag is; else it is built here first, once.
import { pathToFileURL } from 'node:url';
import { distFile, ensureDist } from './dist.mjs';
import { failStep } from './fail.mjs';

const problem = ensureDist('action.mjs');
if (problem === undefined) await import(pathToFileURL(distFile('action.mjs')).href);
else process.exitCode = failStep(problem);
