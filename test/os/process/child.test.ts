import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { killProcessGroup, readLogTail, startProcess, stopProcess } from '../../../src/os/process/child.ts';
import { isRunning, type ProcessIdentity, readProcessIdentity } from '../../../src/os/process/identity.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../../support/temp.ts';

const clock = createSystemClock();

describe('a child process', () => {
  let folder: string;
  let log: string;

  beforeEach(() => {
    folder = tempFolder('process');
    log = join(folder, 'log');
  });

  it('runs until it is stopped', async () => {
    const identity = await start('exec sleep 100');
    expect(isRunning(identity)).toBe(true);
    await stopProcess(identity, clock);
    expect(isRunning(identity)).toBe(false);
  });

  it('may handle SIGTERM itself', async () => {
    const identity = await start(`trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done`);
    await untilLog('up');
    await stopProcess(identity, clock);
    expect(readFileSync(log, 'utf8')).toBe('up\nbye\n');
  });

  it('is killed when it ignores SIGTERM', async () => {
    const identity = await start(`trap '' TERM; echo up; while :; do sleep 0.01; done`);
    await untilLog('up');
    await stopProcess(identity, clock, 50);
    expect(isRunning(identity)).toBe(false);
  });

  it('counts as stopped when another program killed it', async () => {
    const identity = await start('exec sleep 100');
    process.kill(identity.pid, 'SIGKILL');
    while (isRunning(identity)) await clock.sleep(5);
    await stopProcess(identity, clock);
    expect(isRunning(identity)).toBe(false);
  });

  it('is never stopped when it only reused the pid', async () => {
    const other = await start('exec sleep 100');
    for (const past of [{ startTicks: '1' }, { bootId: 'another' }]) {
      await stopProcess({ ...other, ...past }, clock, 0);
    }
    expect(isRunning(other)).toBe(true);
  });

  it('has its own session, so that it survives our end', async () => {
    const identity = await start('exec sleep 100');
    const stat = readFileSync(`/proc/${identity.pid}/stat`, 'utf8').split(' ');
    expect(stat[5]).toBe(String(identity.pid));
  });

  it('does not inherit environment variables that would change it', async () => {
    process.env['GODEBUG'] = 'http2debug=2';
    onTestFinished(() => void delete process.env['GODEBUG']);
    await start('echo "[$GODEBUG]"; exec sleep 100');
    await untilLog(']');
    expect(readFileSync(log, 'utf8')).toBe('[]\n');
  });

  it('inherits how much memory programs in Go may take', async () => {
    vi.stubEnv('GOGC', '50');
    onTestFinished(() => void vi.unstubAllEnvs());
    await start('echo "[$GOGC]"; exec sleep 100');
    await untilLog(']');
    expect(readFileSync(log, 'utf8')).toBe('[50]\n');
  });

  it.each([
    ['is missing', () => join(folder, 'missing')],
    ['is not executable', () => file('plain', '#!/bin/sh\n', 0o600)],
  ])('fails to start with an error that names the program when it %s', async (_, path) => {
    const program = path();
    await expect(startProcess({ program, args: [] }, log)).rejects.toMatchObject({
      code: 'Exited',
      where: program,
    });
  });

  it('is explained by the last lines of its log, each cut to 300 characters', async () => {
    writeFileSync(log, Array.from({ length: 50 }, (_, line) => `${line} ${'x'.repeat(500)}`).join('\n'));
    const lines = (await readLogTail(log)).split('\n');
    expect(lines).toHaveLength(12);
    expect(lines[0]).toMatch(/^ {2}\| 38 x{297}$/);
  });

  it('starts a new log when the old one is large', async () => {
    writeFileSync(log, 'x'.repeat(17 * 1024 ** 2));
    await start('echo new; exec sleep 100');
    await untilLog('new');
    expect(readFileSync(log, 'utf8')).toBe('new\n');
    expect(statSync(`${log}.1`).size).toBe(17 * 1024 ** 2);
  });

  async function start(script: string): Promise<ProcessIdentity> {
    const identity = await startProcess({ program: '/bin/sh', args: ['-c', script] }, log);
    onTestFinished(() => stopProcess(identity, clock, 0));
    return identity;
  }

  function file(name: string, text: string, mode: number): string {
    const path = join(folder, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }

  async function untilLog(text: string): Promise<void> {
    while (!existsSync(log) || !readFileSync(log, 'utf8').includes(text)) await clock.sleep(5);
  }
});

describe('killProcessGroup', () => {
  it('ends the child and the processes that it started, and may be called again', async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 100 & echo $!; wait'], { detached: true });
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const grandchild = await readProcessIdentity(Number(line));
    if (!grandchild) throw new Error('the child started no process');
    killProcessGroup(child);
    await once(child, 'close');
    expect(child.signalCode).toBe('SIGKILL');
    while (isRunning(grandchild)) await new Promise((resolve) => setTimeout(resolve, 5));
    killProcessGroup(child);
  });
});
