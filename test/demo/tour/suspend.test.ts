import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { resumeMachine, suspendMachine } from '../../../src/demo/tour/suspend.ts';
import { parseStat } from '../../../src/os/process/identity.ts';
import { markedEnvironment } from '../../../src/providers/local/processes.ts';
import { tempFolder } from '../../support/temp.ts';

describe('a machine that is suspended', () => {
  it('stands still until it is resumed, and no other one does', async () => {
    const mark = tempFolder('suspend');
    const own = [startSleep(mark), startSleep(mark)];
    const other = startSleep(`${mark}-other`);
    await suspendMachine(mark);
    // The kernel stops a process when it runs the next time.
    await expect.poll(() => own.map(stateOf)).toEqual(['T', 'T']);
    expect(stateOf(other)).not.toBe('T');
    await resumeMachine(mark);
    await expect.poll(() => own.map(stateOf)).toEqual(['S', 'S']);
  });
});

function startSleep(mark: string): number {
  const child = spawn('sleep', ['100'], { env: { ...process.env, ...markedEnvironment(mark) } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

function stateOf(pid: number): string | undefined {
  return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8')).state;
}
