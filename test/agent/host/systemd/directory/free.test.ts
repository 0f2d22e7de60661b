/** With real processes, and with real mounts where this user may mount. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../../src/agent/host/systemd/commands.ts';
import { freeDirectory } from '../../../../../src/agent/host/systemd/directory/free.ts';
import { mountsIn } from '../../../../../src/agent/host/systemd/directory/users.ts';
import { createSystemClock } from '../../../../../src/os/system-clock.ts';
import { eventually } from '../../../../support/eventually.ts';
import { tempFolder } from '../../../../support/temp.ts';

const options = { run: runCommand, clock: createSystemClock() };
const mounted = (folder: string): readonly string[] =>
  mountsIn(readFileSync('/proc/self/mountinfo', 'utf8'), folder);

function mayMount(): boolean {
  const folder = tempFolder('may-mount');
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const canMount = process.platform === 'linux' && mayMount();

describe.skipIf(process.platform !== 'linux')('freeDirectory', () => {
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started) child.kill('SIGKILL');
  });

  function start(script: string, cwd: string): ChildProcess {
    const child = spawn('sh', ['-c', script], { cwd, stdio: 'ignore' });
    started.push(child);
    return child;
  }

  it('MAC-20 ends what works in the directory and what that started, and nothing else', async () => {
    const folder = tempFolder('state');
    const note = join(tempFolder('note'), 'pid');
    mkdirSync(join(folder, 'task'));
    const runtime = start(`cd / && sh -c 'echo $$ > ${note}; sleep 600' & sleep 600`, join(folder, 'task'));
    const other = start('exec sleep 600', tempFolder('other'));
    const container = await eventually(
      async () => (existsSync(note) && Number(readFileSync(note, 'utf8'))) || undefined,
      'the child did not start',
    );
    const ended = once(runtime, 'exit');
    await freeDirectory(folder, options);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(isAlive(container)).toBe(false);
    expect(isAlive(other.pid ?? 0)).toBe(true);
    await freeDirectory(folder, options);
  });

  it.skipIf(!canMount)('MAC-20 unmounts what is mounted in the directory, one on another too', async () => {
    const folder = tempFolder('state');
    const inner = join(folder, 'pods/a b');
    mkdirSync(inner, { recursive: true });
    for (let count = 0; count < 2; count += 1) {
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', inner]);
      writeFileSync(join(inner, 'token'), 'secret');
    }
    expect(mounted(folder)).toEqual([inner, inner]);
    await freeDirectory(folder, options);
    expect([mounted(folder), existsSync(join(inner, 'token'))]).toEqual([[], false]);
    rmSync(folder, { recursive: true });
  });
});

/** A process that was ended and not collected is a zombie. */
function isAlive(pid: number): boolean {
  const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return state !== '' && !/\) [ZX] /.test(state);
}
