import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  resumeMachine,
  resumeServer,
  suspendMachine,
  suspendServer,
} from '../../../src/demo/tour/suspend.ts';
import { createLayout } from '../../../src/local/layout.ts';
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

describe('an API server that is suspended', () => {
  it('is the one of that cluster in that fleet, until it is resumed', async () => {
    const layout = createLayout(tempFolder('suspend'));
    const folders = [layout.cluster('hub').folder, layout.cluster('hub-2').folder];
    const [own = 0, other = 0] = folders.map((folder) => startServer(`--cert-dir=${folder}/pki`));
    await suspendServer(layout, 'hub');
    await expect.poll(() => stateOf(own)).toBe('T');
    expect(stateOf(other)).not.toBe('T');
    await resumeServer(layout, 'hub');
    await expect.poll(() => stateOf(own)).toBe('S');
  });

  it('has to run: what a step verifies without one would prove nothing', async () => {
    const layout = createLayout(tempFolder('suspend'));
    await expect(suspendServer(layout, 'hub')).rejects.toThrow('the API server of hub is not running');
    await expect(resumeServer(layout, 'hub')).resolves.toBeUndefined();
  });
});

/** Starts a process whose command line is that of an API server. */
function startServer(flag: string): number {
  const wait = 'setTimeout(() => undefined, 100_000)';
  const child = spawn(process.execPath, ['-e', wait, '--', flag], {
    argv0: 'kube-apiserver',
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

function startSleep(mark: string): number {
  const child = spawn('sleep', ['100'], { env: { ...process.env, ...markedEnvironment(mark) } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

function stateOf(pid: number): string | undefined {
  return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8')).state;
}
