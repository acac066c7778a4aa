// Preloaded into a measured program: at its end writes the most memory it ever held, in KiB, to the file named in
// BENCH_PEAK. The kernel's own mark of the program; `ru_maxrss` would count what the parent held before the start.
const { readFileSync, writeFileSync } = require('node:fs');
const process = require('node:process');

const file = process.env.BENCH_PEAK;
// Its own children, and workers, are others.
delete process.env.BENCH_PEAK;
process.on('exit', () => {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  if (file && peak) writeFileSync(file, peak[1]);
});
