import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isRunning } from '../../src/os/process.ts';
import { killProcessGroup } from '../../src/os/process-group.ts';
import { readProcessIdentity } from '../../src/os/process-identity.ts';

describe('killProcessGroup', () => {
  it('ends the child and the processes that it started, and may be called again', async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 100 & echo $!; wait'], { detached: true });
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const grandchild = await readProcessIdentity(Number(line));
    if (!grandchild) throw new Error('the child started no process');
    killProcessGroup(child);
    await once(child, 'close');
    expect(child.signalCode).toBe('SIGKILL');
    while (await isRunning(grandchild)) await new Promise((resolve) => setTimeout(resolve, 5));
    killProcessGroup(child);
  });
});
