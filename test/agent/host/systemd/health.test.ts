import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readHealth } from '../../../../src/agent/host/systemd/health.ts';
import { tempFolder } from '../../../support/temp.ts';

let proc: string;
beforeEach(() => {
  proc = tempFolder('proc');
});

describe('health of a machine', () => {
  it('includes the tasks that are blocked, with how often they have run', async () => {
    task(1, 'systemd', 'S');
    task(70, 'nfs (v4) mount', 'D');
    write('self/stat', '');
    write('90/unrelated', '');
    expect(await readHealth(proc)).toEqual({ blockedTasks: ['70-4711-42'] });
  });

  it('includes the share of the last minute in which all tasks waited', async () => {
    const other = 'some avg10=90.00 avg60=90.00 avg300=90.00 total=1\n';
    write('pressure/memory', `${other}full avg10=90.00 avg60=12.34 avg300=90.00 total=1\n`);
    write('pressure/io', `${other}full avg10=90.00 avg60=0.00 avg300=90.00 total=1\n`);
    expect((await readHealth(proc)).pressure).toEqual({ memory: 12.34, io: 0 });
  });

  it('does without pressure that the kernel does not measure', async () => {
    write('pressure/memory', 'some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n');
    // A kernel that was started with psi=0 refuses to read it.
    mkdirSync(join(proc, 'pressure/io'), { recursive: true });
    expect(await readHealth(proc)).toEqual({ blockedTasks: [] });
  });

  it('is readable on this machine', async () => {
    expect((await readHealth()).blockedTasks).toBeInstanceOf(Array);
  });
});

function task(pid: number, name: string, state: string): void {
  // Fields 4 to 21, and the start time.
  const before = Array.from({ length: 18 }, (_, index) => index).join(' ');
  write(`${pid}/stat`, `${pid} (${name}) ${state} ${before} 4711 0 0\n`);
  write(`${pid}/status`, `Name:\t${name}\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n`);
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(proc, path)), { recursive: true });
  writeFileSync(join(proc, path), content);
}
