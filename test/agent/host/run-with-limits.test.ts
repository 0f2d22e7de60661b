import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../../src/agent/host/run-with-limits.ts';
import { tempFolder } from '../../support/temp.ts';

const LIMITS = { timeoutMs: 60_000, maxOutputBytes: 1024 };

it('has the last line of each of 300 programs, ten of them at a time', async () => {
  const outputs: string[] = [];
  const runAll = async (): Promise<void> => {
    while (outputs.length < 300) {
      const index = outputs.push('') - 1;
      // oxlint-disable-next-line no-await-in-loop -- one after the other in each of the ten
      outputs[index] = (await run(['sh', '-c', `echo first; echo last ${index} >&2`], LIMITS)).output;
    }
  };
  await Promise.all(Array.from({ length: 10 }, runAll));
  // Two pipes: either line may be read first.
  const expected = outputs.map((_, index) => ['first', `last ${index}`]);
  expect(outputs.map((output) => output.trim().split('\n').toSorted())).toEqual(expected);
});

it('has all that it may have when this process was busy while the program ended', async () => {
  const running = run(['sh', '-c', 'echo written'], LIMITS);
  await new Promise(setImmediate);
  const untilMs = performance.now() + 600;
  while (performance.now() < untilMs);
  expect((await running).output).toBe('written\n');
});

it('ends with the program, also when a process that left its group holds the pipes', async () => {
  const left = join(tempFolder('left'), 'left');
  const script = `setsid sh -c 'touch ${left}; exec sleep 30' & until [ -e ${left} ]; do :; done; echo $!`;
  const startMs = performance.now();
  const { output, exitCode } = await run(['sh', '-c', script], LIMITS);
  const tookMs = performance.now() - startMs;
  process.kill(Number(output), 'SIGKILL');
  expect(exitCode).toBe(0);
  // Long before the sleep ends, on any machine.
  expect(tookMs).toBeLessThan(20_000);
});
