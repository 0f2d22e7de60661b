import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { endMachines, machinesFolder } from '../../../src/cli/local/machines-folder.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { markedEnvironment } from '../../../src/providers/local/processes.ts';
import { tempFolder } from '../../support/temp.ts';

const UID = '5d0e3a52-2f0c-4c43-9d54-0a4c6c4d7a11';

it.each([undefined, '{"version": 1'])(
  'ends the machines of a fleet whose state file is %s',
  async (state) => {
    const dir = tempFolder('fleet');
    if (state !== undefined) writeFileSync(join(dir, 'state.json'), state);
    const instance = join(machinesFolder(dir, 'test'), UID);
    mkdirSync(instance, { recursive: true });
    const agent = spawn('sleep', ['100'], { env: { ...process.env, ...markedEnvironment(instance) } });
    onTestFinished(() => void agent.kill('SIGKILL'));
    await once(agent, 'spawn');
    await endMachines(dir, createSystemClock());
    await expect.poll(() => agent.signalCode).toBe('SIGKILL');
  },
);

it('has nothing to end in a folder without clusters', async () => {
  const dir = tempFolder('fleet');
  await expect(endMachines(dir, createSystemClock())).resolves.toBe(undefined);
});
