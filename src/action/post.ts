import process from 'node:process';
import { runPost } from './run-post.ts';

await runPost(process.env);
// What still listens somewhere must not keep the job waiting.
process.exit(0);
