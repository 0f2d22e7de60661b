import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type FleetProgram, runPrograms } from '../../../src/demo/start/programs.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../../support/temp.ts';

function programOf(script: string): FleetProgram {
  const logFile = join(tempFolder('programs'), 'program.log');
  return { name: 'sync', command: [process.execPath, '-e', script], env: process.env, logFile };
}

const STAYS = `process.on('SIGTERM', () => { console.log('asked to end'); process.exit(0); });
console.log('pid', process.pid);
setInterval(() => undefined, 1000);`;

function stopAtEnd(): AbortController {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return stop;
}

function linesOf({ logFile }: FleetProgram): readonly string[] {
  try {
    return readFileSync(logFile, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

it('asks every program to end, and waits for it', async () => {
  const stop = stopAtEnd();
  const programs = [programOf(STAYS), programOf(STAYS)];
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const running = runPrograms(programs, { clock: createSystemClock(), signal: stop.signal, warn });
  await expect.poll(() => programs.flatMap(linesOf).length).toBe(2);
  stop.abort();
  await running;
  for (const program of programs) expect(linesOf(program).at(-1)).toBe('asked to end');
  expect(warnings).toEqual([]);
});

it('names a program that takes its time to end', async () => {
  const stop = stopAtEnd();
  const program = programOf(`process.on('SIGTERM', () => console.log('asked to end'));
    console.log('pid', process.pid);
    setInterval(() => undefined, 1000);`);
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    process.kill(Number(linesOf(program)[0]?.split(' ')[1]), 'SIGKILL');
  };
  const options = { clock: createSystemClock(), signal: stop.signal, warn, quietMs: 1 };
  const running = runPrograms([program], options);
  await expect.poll(() => linesOf(program).length).toBe(1);
  stop.abort();
  await running;
  expect(warnings).toEqual(['sync still finishes what is under way, for 20 s at most']);
});

it('starts a program that was killed again, and reports how it ended and where its log is', async () => {
  const stop = stopAtEnd();
  const program = programOf(STAYS);
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const running = runPrograms([program], { clock: createSystemClock(), signal: stop.signal, warn });
  await expect.poll(() => linesOf(program).length).toBe(1);
  process.kill(Number(linesOf(program)[0]?.split(' ')[1]), 'SIGKILL');
  await expect.poll(() => linesOf(program).length).toBe(2);
  stop.abort();
  await running;
  expect(warnings).toEqual([
    expect.stringMatching(
      /^sync was ended by SIGKILL: starts again in \d+ s; the end of its log, .*program\.log:\n {2}\| pid \d+$/,
    ),
  ]);
});

it('reports a program that cannot be started, and tries again until the signal', async () => {
  const stop = stopAtEnd();
  const program: FleetProgram = { ...programOf(''), command: ['/does/not/exist'] };
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    stop.abort();
  };
  await runPrograms([program], { clock: createSystemClock(), signal: stop.signal, warn });
  expect(warnings).toEqual([expect.stringMatching(/^sync (could not be started|ended with exit code)/)]);
});

it('tries again while its log cannot be written, and leaves the others running', async () => {
  const stop = stopAtEnd();
  const other = programOf(STAYS);
  const program = { ...programOf(STAYS), logFile: '/nonexistent/program.log' };
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const running = runPrograms([program, other], { clock: createSystemClock(), signal: stop.signal, warn });
  await expect.poll(() => warnings[0]).toContain('sync could not be started (ENOENT');
  await expect.poll(() => linesOf(other).length).toBe(1);
  stop.abort();
  await running;
  expect(linesOf(other).at(-1)).toBe('asked to end');
});
