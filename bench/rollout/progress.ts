/** How far a benchmark is, every few seconds on stderr, and how busy its own process was: the load must not be what is measured. */
import { stderr } from 'node:process';

const EVERY_MS = 5000;

export interface Progress {
  /** What is waited for now. */
  readonly begin: (step: string) => void;
  readonly stop: () => void;
}

export function showProgress(describe: () => string): Progress {
  const began = performance.now();
  let step = '';
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => show(), EVERY_MS);
  return {
    begin: (next) => {
      step = next;
      show();
    },
    stop: () => clearInterval(timer),
  };

  function show(): void {
    const seconds = Math.round((performance.now() - began) / 1000);
    const now = performance.eventLoopUtilization();
    const busy = Math.round(performance.eventLoopUtilization(now, before).utilization * 100);
    before = now;
    stderr.write(`  ${seconds} s  ${step}: ${describe()}, load process ${busy} % busy\n`);
  }
}
