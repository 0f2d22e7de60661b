import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stopPlanesOfFleet } from '../../../src/cli/hosting/stop-planes.ts';
import { PLANE_FILE } from '../../../src/controllers/hosting/drivers/process/records.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { isAlive } from '../../support/leak-guard/leaks.ts';
import { tempFolder } from '../../support/temp.ts';

const clock = createSystemClock();

/** Starts a process whose command line is that of a member with this file. */
function startMember(file: string): number {
  const wait = 'setTimeout(() => undefined, 100_000)';
  const args = ['-e', wait, '--', `--cert-dir=${file}`];
  const child = spawn(process.execPath, args, { argv0: 'kube-apiserver', stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

describe('the control planes that the hub of a local fleet hosts', () => {
  it.each<[name: string, wipe: boolean, removed: boolean]>([
    ['end with the fleet, and keep their data', false, false],
    ['end and are removed with the fleet that is wiped', true, false],
    ['end also after a person removed the folder of the fleet', true, true],
  ])('%s', async (_, wipe, removed) => {
    const parent = realpathSync(tempFolder('planes'));
    const fleet = join(parent, 'local');
    const plane = join(parent, 'local-hosting/clusters/ci');
    const other = join(parent, 'local-2-hosting/clusters/ci');
    for (const folder of [fleet, plane, other]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(plane, PLANE_FILE), '{}');
    mkdirSync(join(parent, 'local-hosting/ports'));
    if (removed) rmSync(fleet, { recursive: true });
    const own = startMember(join(plane, 'pki'));
    const foreign = startMember(join(other, 'pki'));
    await stopPlanesOfFleet(fleet, { clock, wipe });
    await expect.poll(() => isAlive(own)).toBe(false);
    expect(isAlive(foreign)).toBe(true);
    expect([existsSync(plane), existsSync(other)]).toEqual([!wipe, true]);
    expect(existsSync(join(parent, 'local-hosting'))).toBe(!wipe);
  });

  it.each([
    ['web-hosting/index.html'],
    ['web-hosting/clusters/prod/cluster.yaml'],
    ['web-hosting/clusters/README.md'],
    ['web-hosting/ports/list.txt'],
  ])('are wiped without a file of somebody else in a folder of that name: %s', async (path) => {
    const parent = realpathSync(tempFolder('planes'));
    const file = join(parent, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    await stopPlanesOfFleet(join(parent, 'web'), { clock, wipe: true });
    expect(existsSync(file)).toBe(true);
  });
});
