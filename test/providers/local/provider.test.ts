import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ProcessIdentity } from '../../../src/os/process/identity.ts';
import { endLocalMachines } from '../../../src/providers/local/end.ts';
import {
  deletedMark,
  instanceFolder,
  newFolder,
  removedFolder,
} from '../../../src/providers/local/folders.ts';
import { endMarked, findMarked } from '../../../src/providers/local/processes.ts';
import { CLUSTER, NEVER, requestOf, SECRET } from '../contract/harness.ts';
import { clock, openLocalHarness, STUB_PROGRAMS } from './stub-agents.ts';

/** Of the stub agent: its last process. */
function isChild({ command: [program] }: ProcessIdentity): boolean {
  return program === 'sleep';
}

const SANDBOX = { config: { type: 'sandbox' }, host: 'sandbox' } as const;
const SIMULATED = { config: { type: 'simulated' }, host: 'sandbox' } as const;

async function open(): ReturnType<typeof openLocalHarness> {
  const harness = await openLocalHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  return harness;
}

async function created(): Promise<CreatedSandbox> {
  const harness = await open();
  const request = requestOf(SANDBOX);
  const id = await harness.provider.create(request, NEVER);
  const uid = request.tags.machineUid;
  return { harness, request, id, uid, folder: instanceFolder(harness.machines, uid) };
}

interface CreatedSandbox {
  readonly harness: Awaited<ReturnType<typeof openLocalHarness>>;
  readonly request: ReturnType<typeof requestOf>;
  readonly id: string;
  readonly uid: string;
  readonly folder: ReturnType<typeof instanceFolder>;
}

/** What a killed process leaves behind, made by hand: one case for each line after which it may be killed. */
describe('MAC-06 the provider local, killed', () => {
  it('before the folder of a new instance was complete, creates it all the same', async () => {
    const harness = await open();
    const request = requestOf(SANDBOX);
    const { machineUid } = request.tags;
    mkdirSync(newFolder(harness.machines, machineUid));
    writeFileSync(join(newFolder(harness.machines, machineUid), 'instance.json'), '{"ver');
    expect(await harness.provider.find({ clusterUid: CLUSTER }, NEVER)).toEqual([]);
    await harness.provider.create(request, NEVER);
    expect(await harness.countHosts(machineUid)).toBe(1);
    expect(readdirSync(harness.machines).filter((name) => name.startsWith('.new'))).toEqual([]);
  });

  it('before the agent was started, finds a stopped instance and starts it', async () => {
    const { harness, id, uid, request, folder } = await created();
    await harness.crash(uid);
    rmSync(folder.agentFile);
    rmSync(folder.bootstrapFile);
    expect((await harness.provider.get(id, NEVER))?.state).toBe('Stopped');
    await harness.provider.create(request, NEVER);
    expect([await harness.countHosts(uid), readFileSync(folder.bootstrapFile, 'utf8')]).toEqual([1, SECRET]);
  });

  it('before it wrote which process the agent is, finds it and starts no other', async () => {
    const { harness, id, uid, request, folder } = await created();
    rmSync(folder.agentFile);
    expect((await harness.provider.get(id, NEVER))?.state).toBe('Running');
    await harness.provider.create(request, NEVER);
    await harness.provider.power(id, 'on', NEVER);
    expect(await harness.countHosts(uid)).toBe(1);
  });

  it('before anything ended of what is deleted, ends it with the next call', async () => {
    const { harness, id, uid, request } = await created();
    const mark = deletedMark(harness.machines, uid);
    mkdirSync(dirname(mark), { recursive: true });
    writeFileSync(mark, '');
    // It is still found, so that the deletion is repeated.
    expect(await harness.provider.find(request.tags, NEVER)).toHaveLength(1);
    await harness.provider.delete(id, NEVER);
    expect([await harness.countHosts(uid), await harness.provider.find(request.tags, NEVER)]).toEqual([
      0,
      [],
    ]);
  });

  it('while the files were being removed, removes the rest with the next deletion', async () => {
    const { harness, uid, folder } = await created();
    await harness.crash(uid);
    const rest = removedFolder(harness.machines, uid);
    renameSync(folder.path, rest);
    const other = requestOf(SANDBOX);
    await harness.provider.delete(await harness.provider.create(other, NEVER), NEVER);
    expect(existsSync(rest)).toBe(false);
  });
});

describe('the provider local', () => {
  it('ends what the agent started, in whatever session it is', async () => {
    const { harness, id, folder } = await created();
    const started = await findMarked(folder.path);
    await harness.provider.delete(id, NEVER);
    expect(started.length).toBeGreaterThan(0);
    expect([await findMarked(folder.path), existsSync(folder.path)]).toEqual([[], false]);
  });

  it('ends no process of another instance, and none with a similar folder', async () => {
    const { harness, id, folder } = await created();
    await expect.poll(async () => (await findMarked(folder.path)).some(isChild)).toBe(true);
    const before = await findMarked(folder.path);
    await endMarked(folder.path.slice(0, -1), clock);
    await endMarked(`${folder.path}/`, clock);
    await endMarked(harness.machines, clock);
    expect(await findMarked(folder.path)).toEqual(expect.arrayContaining([...before]));
    expect((await harness.provider.get(id, NEVER))?.state).toBe('Running');
  });

  it('takes no other process for an agent that had its pid', async () => {
    const { harness, id, uid, folder } = await created();
    await harness.crash(uid);
    const identity = JSON.parse(readFileSync(folder.agentFile, 'utf8')) as object;
    writeFileSync(folder.agentFile, JSON.stringify({ ...identity, pid: process.pid }));
    expect((await harness.provider.get(id, NEVER))?.state).toBe('Stopped');
  });

  it('lets only its user read the bootstrap file and the folders', async () => {
    const { folder } = await created();
    expect(statSync(folder.bootstrapFile).mode & 0o777).toBe(0o600);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  });

  it('gives a host that has not joined the newest bootstrap file', async () => {
    const { harness, request, folder } = await created();
    await harness.provider.create({ ...request, bootstrap: 'newer' }, NEVER);
    expect(readFileSync(folder.bootstrapFile, 'utf8')).toBe('newer');
  });

  it('boots a sandbox again after its power was off', async () => {
    const { harness, id, folder } = await created();
    const boot = join(folder.hostFolder, 'boot.json');
    mkdirSync(folder.hostFolder, { recursive: true });
    writeFileSync(boot, '{}');
    await harness.provider.power(id, 'cycle', NEVER);
    expect(existsSync(boot)).toBe(false);
  });

  it('boots a sandbox again after all machines were ended, as by Ctrl-C in the middle of a rollout', async () => {
    const { harness, folder, uid } = await created();
    const boot = join(folder.hostFolder, 'boot.json');
    mkdirSync(folder.hostFolder, { recursive: true });
    writeFileSync(boot, '{}');
    await endLocalMachines(harness.machines, STUB_PROGRAMS, clock);
    expect([existsSync(boot), await harness.countHosts(uid)]).toEqual([false, 0]);
  });

  it('runs one process for all simulated machines, until the last one is deleted', async () => {
    const harness = await open();
    const { machines, provider } = harness;
    const requests = Array.from({ length: 20 }, () => requestOf(SIMULATED));
    const ids = await Promise.all(requests.map((request) => provider.create(request, NEVER)));
    expect(await harness.countHosts(requests[0]?.tags.machineUid ?? '')).toBe(1);
    const [last = '', ...others] = ids;
    await Promise.all(others.map((id) => provider.delete(id, NEVER)));
    expect((await provider.get(last, NEVER))?.state).toBe('Running');
    await provider.delete(last, NEVER);
    expect(await findMarked(machines)).toEqual([]);
  });

  it('neither lists nor creates over an instance whose record cannot be read, but deletes it', async () => {
    const { harness, id, uid, request, folder } = await created();
    writeFileSync(folder.recordFile, '{}');
    const expected = { code: 'Terminal', reason: 'InvalidRecord' };
    await expect(harness.provider.find(request.tags, NEVER)).rejects.toMatchObject(expected);
    await expect(harness.provider.create(request, NEVER)).rejects.toMatchObject(expected);
    await harness.provider.delete(id, NEVER);
    expect([existsSync(folder.path), await findMarked(folder.path)]).toEqual([false, []]);
    expect(uid).not.toBe('');
  });

  it('forgets after a day that an instance was deleted', async () => {
    const { harness, id, uid } = await created();
    await harness.provider.delete(id, NEVER);
    const mark = deletedMark(harness.machines, uid);
    await harness.reopen();
    expect(existsSync(mark)).toBe(true);
    const old = (clock.now().getTime() - 25 * 3_600_000) / 1000;
    utimesSync(mark, old, old);
    await harness.reopen();
    expect(existsSync(mark)).toBe(false);
  });

  it('takes a host without a type for one that joins by itself', async () => {
    const { provider } = await open();
    const shape = { config: {}, host: 'systemd' } as const;
    expect([provider.hasInstance(shape), provider.configReason(shape)]).toEqual([false, undefined]);
    await expect(provider.create(requestOf(shape), NEVER)).rejects.toMatchObject({ reason: 'InvalidConfig' });
  });

  it('needs a bootstrap file for sandboxes only', async () => {
    const { provider } = await open();
    expect([SANDBOX, SIMULATED].map((shape) => provider.needsBootstrap(shape))).toEqual([true, false]);
  });
});
