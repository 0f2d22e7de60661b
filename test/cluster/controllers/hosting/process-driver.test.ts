/** The driver `process` with a real etcd: what every driver fulfills, and what only processes, files and ports have. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { balancerCommand, controllersCommand, loadPrograms } from '../../../../src/cli/hosting/programs.ts';
import type { PlaneDriver } from '../../../../src/controllers/hosting/drivers/driver.ts';
import {
  createProcessDriver,
  type ProcessDriverOptions,
} from '../../../../src/controllers/hosting/drivers/process/driver.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import type { Programs } from '../../../../src/controllers/hosting/drivers/process/programs.ts';
import type { Clock } from '../../../../src/os/clock.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { PROCESSES, type Surroundings } from '../../../support/hosting/contract/faults.ts';
import { describePlaneDriver } from '../../../support/hosting/driver-contract.ts';
import { planeSpec } from '../../../support/hosting/objects.ts';
import { processFaults } from '../../../support/hosting/process-faults.ts';
import { shellEnv } from '../../../support/local-fleet.ts';
import { tempFolder } from '../../../support/temp.ts';

const clock = createSystemClock();
const { signal } = new AbortController();
const plane = planeSpec();

/** The programs are loaded once: to ask one for its version takes seconds on a busy machine. */
let loaded: Promise<readonly Programs[]> | undefined;
function programsHere(): Promise<readonly Programs[]> {
  loaded ??= loadPrograms({ env: shellEnv(), clock, signal }, [], () => undefined);
  return loaded;
}

async function openDriver(dir: string, more: Partial<ProcessDriverOptions> = {}): Promise<PlaneDriver> {
  const programs = await programsHere();
  const driver = createProcessDriver({
    dir,
    machine: 'here',
    clock,
    programs: async () => programs,
    balancer: balancerCommand,
    controllers: controllersCommand(false),
    endMachines: () => Promise.resolve(),
    version: '0.0.0',
    ...more,
  });
  // The programs are loaded beside the first observation.
  const isLoading = async (): Promise<boolean> => {
    const { programs: found } = await driver.observe(plane, signal);
    return 'problem' in found && found.isLoading;
  };
  await expect.poll(isLoading).toBe(false);
  return driver;
}

function optionsOf({ programs, isDiskFull }: Surroundings): Partial<ProcessDriverOptions> {
  return {
    ...(isDiskFull ? { freeBytes: async () => 1e6 } : {}),
    ...(programs === undefined ? {} : { programs: () => programsNamed(programs) }),
  };
}

async function programsNamed(version: string | Error): Promise<readonly Programs[]> {
  if (version instanceof Error) throw version;
  return (await programsHere()).map((each) => ({ ...each, version }));
}

describePlaneDriver(
  'processes of this machine',
  async () => {
    const dir = join(tempFolder('hosting'), 'hosting');
    let days = 0;
    const now = (): Date => new Date(+clock.now() + days * 86_400_000);
    const moved: Clock = { ...clock, now };
    const driver = await openDriver(dir, { clock: moved });
    return {
      driver,
      reopen: (surroundings = {}) => openDriver(dir, { clock: moved, ...optionsOf(surroundings) }),
      faults: processFaults(dir, driver),
      now,
      travel: (to) => {
        days = to;
      },
      close: async () => undefined,
    };
  },
  PROCESSES,
);

async function prepared(
  more: Partial<ProcessDriverOptions> = {},
): Promise<{ dir: string; driver: PlaneDriver }> {
  const dir = join(tempFolder('hosting'), 'hosting');
  const driver = await openDriver(dir, more);
  await driver.prepare(plane);
  onTestFinished(() => driver.stop(plane, 'etcd').catch(() => undefined));
  return { dir, driver };
}

function isOpen(path: string): boolean {
  return (statSync(path).mode & 0o077) !== 0;
}

describe('the driver of processes', () => {
  it('keeps everything private to this user', async () => {
    const { dir } = await prepared();
    const { root } = planeLayout(dir, 'ci');
    expect([dir, root].filter(isOpen)).toEqual([]);
    const entries = readdirSync(root, { recursive: true, encoding: 'utf8' });
    const keys = entries.filter((name) => /\.pem$|kubeconfig$|\.key$|\.json$/.test(name));
    expect(keys.length).toBeGreaterThan(10);
    expect(keys.filter((name) => isOpen(join(root, name)))).toEqual([]);
  });

  it('claims five ports and releases them when the control plane is removed', async () => {
    const { dir, driver } = await prepared();
    expect(readdirSync(join(dir, 'ports'))).toHaveLength(5);
    await driver.remove(plane);
    expect([readdirSync(join(dir, 'ports')), readdirSync(join(dir, 'clusters'))]).toEqual([[], []]);
  });

  it('keeps the claims of a preparation that was interrupted to the number that it needs', async () => {
    const { dir, driver } = await prepared();
    const { stateFile, root } = planeLayout(dir, 'ci');
    const record = readFileSync(join(root, 'plane.json'), 'utf8');
    writeFileSync(join(root, 'plane.json'), record.replace(/,"controllersPort":\d+/, ''));
    writeFileSync(join(dir, 'ports', '31999'), 'ci\n');
    await driver.prepare(plane);
    expect(readdirSync(join(dir, 'ports'))).toHaveLength(5);
    expect(existsSync(stateFile)).toBe(true);
  });

  it('records no start of a member whose port is taken', async () => {
    const { dir, driver } = await prepared();
    await processFaults(dir, driver).takePort();
    await expect(driver.start(plane, 'etcd')).rejects.toMatchObject({ code: 'PortInUse' });
    expect((await driver.observe(plane, signal)).members[0]?.starts).toEqual([]);
  });

  it.each(['plane.json', 'state.json'])('reports a damaged %s, and touches nothing', async (file) => {
    const { dir, driver } = await prepared();
    const { root } = planeLayout(dir, 'ci');
    expect(existsSync(join(root, file))).toBe(true);
    writeFileSync(join(root, file), '{');
    const before = readdirSync(root, { recursive: true });
    const refused = {
      code: 'CorruptRecord',
      hint: expect.stringContaining('move the folder away') as string,
    };
    await expect(driver.observe(plane, signal)).rejects.toMatchObject(refused);
    await expect(driver.prepare(plane)).rejects.toMatchObject(refused);
    await expect(driver.remove(plane)).rejects.toMatchObject(refused);
    expect(readdirSync(root, { recursive: true })).toEqual(before);
  });

  it('follows no link to the folder of somebody else', async () => {
    const dir = join(tempFolder('hosting'), 'hosting');
    const { root } = planeLayout(dir, 'ci');
    const theirs = tempFolder('theirs');
    mkdirSync(join(dir, 'clusters'), { recursive: true });
    symlinkSync(theirs, root);
    const driver = await openDriver(dir);
    expect((await driver.observe(plane, signal)).claim).toBe('Other');
    await expect(driver.prepare(plane)).rejects.toMatchObject({ code: 'FolderNotOurs' });
    await expect(driver.remove(plane)).rejects.toMatchObject({ code: 'FolderNotOurs' });
    expect([existsSync(root), readdirSync(theirs)]).toEqual([true, []]);
  });

  it('touches no folder whose owner is not known', async () => {
    const dir = join(tempFolder('hosting'), 'hosting');
    const { root } = planeLayout(dir, 'ci');
    mkdirSync(join(root, 'etcd'), { recursive: true });
    const driver = await openDriver(dir);
    expect((await driver.observe(plane, signal)).claim).toBe('Other');
    await expect(driver.prepare(plane)).rejects.toMatchObject({ code: 'FolderNotOurs' });
    await expect(driver.remove(plane)).rejects.toMatchObject({ code: 'FolderNotOurs' });
    expect(readdirSync(root)).toEqual(['etcd']);
  });

  it('HOS-10 reads the version from the executable that runs, and stops a member for a change only where it differs', async () => {
    const { driver } = await prepared();
    const etcd = async () => (await driver.observe(plane, signal)).members[0];
    await driver.start(plane, 'etcd');
    await expect.poll(async () => (await etcd())?.state).toBe('Ready');
    expect(await etcd()).toMatchObject({ version: 'v3.6.8', isOutdated: false });
    const run = (await etcd())?.run ?? { flags: {} };
    await driver.change(plane, 'etcd', run);
    expect((await etcd())?.state).toBe('Ready');
    await driver.change(plane, 'etcd', { ...run, flags: { 'quota-backend-bytes': '104857600' } });
    expect((await etcd())?.state).toBe('Stopped');
  });
});
