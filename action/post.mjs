// What the runner starts when the job is over. Where main had nothing to start there is nothing to clean up.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { distFile } from './dist.mjs';

if (existsSync(distFile('post.mjs'))) await import(pathToFileURL(distFile('post.mjs')).href);
