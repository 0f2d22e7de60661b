import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readEnvironment } from '../../../src/os/process/environment.ts';
import { tempFolder } from '../../support/temp.ts';

async function started(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, args, { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await once(child, 'spawn');
  return child.pid as number;
}

describe('readEnvironment', () => {
  it('is never empty while a process replaces its program again and again', async () => {
    const script = join(tempFolder('exec'), 'again');
    writeFileSync(script, `#!/bin/sh\nexec ${script}\n`);
    chmodSync(script, 0o755);
    const pid = await started(script, [], { MARK: 'ours' });
    for (let read = 0; read < 300; read += 1) expect(await readEnvironment(pid)).toContain('MARK=ours');
  });

  it('is empty for a process without an environment', async () => {
    const pid = await started('/bin/sleep', ['600'], {});
    expect(await readEnvironment(pid)).toEqual([]);
  });

  it('is empty for a process that is not there', async () => {
    expect(await readEnvironment(2 ** 30)).toEqual([]);
  });
});
