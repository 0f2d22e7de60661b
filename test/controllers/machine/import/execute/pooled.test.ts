/** Machines that take their host from a pool: imported like others, and given back only when nothing of them is left. */
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import { createCleanCheck } from '../../../../../src/controllers/machine/import/execute/clean-check.ts';
import { conditionOf } from '../../../../../src/kube/objects/conditions.ts';
import { type Provider, ProviderError } from '../../../../../src/providers/contract.ts';
import { NEVER } from '../../../../providers/contract/harness.ts';
import { type PoolBed, poolBed, poolObject } from '../../../../providers/ssh/pool/bed.ts';
import { HOST_KEY, sshError } from '../../../../support/import-hosts.ts';
import { CERTIFICATE, type ImportBed, importBed, importedMachine } from './import-bed.ts';

const SECOND = 1000;
const ADDRESS = '10.0.0.1';
const POOL = poolObject('rack7', {
  user: 'root',
  hosts: [{ address: ADDRESS, hostKeys: [HOST_KEY] }],
});
const CLUSTER = 'c0000000-0000-4000-8000-000000000001';
const DELETION = { drain: 'Respect', drainTimeoutSeconds: 60, timeoutSeconds: 600 } as const;

function pooledMachine(name: string, cleanup: Machine['spec']['deletion']['cleanup'] = 'Restore'): Machine {
  const { metadata, spec, ...rest } = importedMachine(name);
  const { import: _, ...others } = spec;
  const infra = { provider: 'ssh', config: { pool: 'rack7' } } as const;
  const host = { type: 'systemd' } as const;
  return { ...rest, metadata, spec: { ...others, infra, host, deletion: { ...DELETION, cleanup } } };
}

const NO_BOOTSTRAP = (): never => {
  throw new Error('no bootstrap file is needed');
};

interface PooledBed {
  readonly bed: ImportBed;
  readonly pool: PoolBed;
  /** Whether each read of the provider fails. */
  readonly isDown: { current: boolean };
}

function pooledBed(machines: readonly Machine[]): PooledBed {
  const parts: { pool?: PoolBed } = {};
  const isDown = { current: false };
  const bed = importBed(machines, (imports) => {
    const check = createCleanCheck(imports);
    parts.pool ??= poolBed(POOL, (host, uid, signal) => check(host, uid, signal));
    const ssh = withUuids(parts.pool.provider, isDown);
    return { providers: { ssh }, clusterUid: CLUSTER, createBootstrap: NO_BOOTSTRAP };
  });
  return {
    bed,
    isDown,
    get pool() {
      if (!parts.pool) throw new Error('the controllers were not started');
      return parts.pool;
    },
  };
}

function uuid(uid: string): string {
  const hex = Buffer.from(uid).toString('hex').padStart(12, '0').slice(-12);
  return `d0000000-0000-4000-8000-${hex}`;
}

/** The API server in memory gives objects short UIDs. */
function withUuids(provider: Provider, isDown: { readonly current: boolean }): Provider {
  const fail = (): void => {
    if (isDown.current) throw new ProviderError('Retryable', 'the API server is down');
  };
  return {
    ...provider,
    create: (request, signal) => {
      const tags = { ...request.tags, machineUid: uuid(request.tags.machineUid) };
      return provider.create({ ...request, tags }, signal);
    },
    async get(id, signal) {
      fail();
      return await provider.get(id, signal);
    },
    async find({ machineUid, ...tags }, signal) {
      fail();
      return await provider.find(
        { ...tags, ...(machineUid !== undefined && { machineUid: uuid(machineUid) }) },
        signal,
      );
    },
  };
}

/** Time passes until it is so. What a step does takes turns of the event loop, and no time of the test. */
async function until(bed: ImportBed, isSo: () => boolean, name = 'm'): Promise<void> {
  for (let n = 0; n < 900 && !isSo(); n += 1) {
    bed.sign();
    if (bed.hosts.host(ADDRESS).certificate !== undefined) bed.beat(name);
    await bed.advance(SECOND); // oxlint-disable-line no-await-in-loop -- second by second
  }
  expect(isSo()).toBe(true);
}

function reasonOf(bed: ImportBed, type: string, name = 'm'): string {
  const found = conditionOf(bed.machine(name)?.status?.conditions, type);
  return `${found?.status} ${found?.reason}`;
}

async function imported(cleanup?: Machine['spec']['deletion']['cleanup']): Promise<PooledBed> {
  const beds = pooledBed([pooledMachine('m', cleanup)]);
  await beds.bed.start();
  await until(beds.bed, () => reasonOf(beds.bed, 'SSHCredentialsNeeded') === 'False AgentReports');
  return beds;
}

describe('a machine of a pool', () => {
  it('MAC-30 gets the agent on the host that it takes, as one that names its host', async () => {
    const { bed, pool } = await imported();
    expect(bed.hosts.host(ADDRESS)).toMatchObject({ keys: 1, certificate: CERTIFICATE });
    expect(bed.machine()?.spec).not.toHaveProperty('import');
    expect(bed.machine()?.status?.infra).toMatchObject({
      providerID: expect.stringMatching(/^ssh:\/\/\//) as string,
      addresses: [{ address: ADDRESS }],
    });
    expect(
      ['HostTrusted', 'PreflightPassed', 'AgentInstalled', 'SSHCredentialsNeeded'].map((type) =>
        reasonOf(bed, type),
      ),
    ).toEqual(['True Pinned', 'True AsWanted', 'True AsWanted', 'False AgentReports']);
    expect(pool.taken()).toHaveLength(1);
  });

  it('MAC-30 waits for a host with what is missing, and gets it when another machine is deleted', async () => {
    const { bed } = pooledBed([pooledMachine('m'), pooledMachine('n')]);
    await bed.start();
    await until(bed, () =>
      ['m', 'n'].some((name) => reasonOf(bed, 'InfraReady', name) === 'Unknown NoFreeHost'),
    );
    await until(bed, () => ['m', 'n'].some((name) => reasonOf(bed, 'InfraReady', name) === 'True AsWanted'));
    const [first, second] = reasonOf(bed, 'InfraReady') === 'True AsWanted' ? ['m', 'n'] : ['n', 'm'];
    expect(reasonOf(bed, 'InfraReady', second)).toBe('Unknown NoFreeHost');
    const { message } = conditionOf(bed.machine(second)?.status?.conditions, 'InfraReady') ?? {};
    expect(message).toContain(`1 match, and belong to ${first}`);
    bed.delete(MACHINES, first ?? '');
    await until(bed, () => bed.machine(first) === undefined);
    await until(bed, () => reasonOf(bed, 'InfraReady', second) === 'True AsWanted');
  });

  it('keeps its conditions while the provider does not answer, and goes on then', async () => {
    const { bed, isDown } = pooledBed([pooledMachine('m')]);
    bed.hosts.fail(ADDRESS, 'request', 'hang');
    await bed.start();
    await until(bed, () => reasonOf(bed, 'AgentInstalled') === 'True AsWanted');
    isDown.current = true;
    bed.hosts.fail(ADDRESS, 'request', undefined);
    await until(bed, () => reasonOf(bed, 'InfraReady') === 'Unknown Retryable');
    await bed.advance(30 * SECOND);
    expect(['HostTrusted', 'AgentInstalled'].map((type) => reasonOf(bed, type))).toEqual([
      'True Pinned',
      'True AsWanted',
    ]);
    expect(bed.machine()?.status).toMatchObject({
      import: { machineID: expect.any(String) as string },
      preflight: {},
    });
    isDown.current = false;
    await until(bed, () => reasonOf(bed, 'AgentReady') === 'True AsWanted');
    expect(bed.hosts.host(ADDRESS).keys).toBe(1);
  });
});

describe('MAC-20 the deletion of a machine of a pool', () => {
  it('releases the host, looks whether it is clean, and gives it back', async () => {
    const { bed, pool } = await imported();
    bed.hosts.calls();
    bed.delete(MACHINES, 'm');
    await until(bed, () => bed.machine() === undefined);
    const calls = [`connect ${ADDRESS}`, `release ${ADDRESS}`, `connect ${ADDRESS}`, `inspect ${ADDRESS}`];
    expect(bed.hosts.calls().slice(0, 4)).toEqual(calls);
    expect(pool.taken()).toEqual([]);
  });

  it('waits for a host that does not answer, and keeps it from other machines after the time limit', async () => {
    const { bed, pool } = await imported();
    bed.hosts.fail(ADDRESS, 'connect', sshError('Unreachable', 'no route'));
    bed.delete(MACHINES, 'm');
    await until(bed, () => bed.machine()?.status?.waiting?.reason === 'Unreachable');
    const started = bed.clock.now().getTime();
    await until(bed, () => bed.machine() === undefined);
    expect(bed.clock.now().getTime() - started).toBeGreaterThan(300 * SECOND);
    expect(pool.taken()).toHaveLength(1);
    const claims = await pool.provider.find({ clusterUid: CLUSTER }, NEVER);
    expect(claims).toEqual([]);
  });

  it('keeps a host on which its release left something, though it looks clean', async () => {
    const { bed, pool } = await imported();
    bed.hosts.host(ADDRESS).left = ['kubelet.service'];
    bed.delete(MACHINES, 'm');
    await until(bed, () => bed.machine() === undefined);
    expect(pool.taken()).toHaveLength(1);
  });

  it('keeps a host whose components stay, with cleanup Orphan', async () => {
    const { bed, pool } = await imported('Orphan');
    bed.delete(MACHINES, 'm');
    await until(bed, () => bed.machine() === undefined);
    expect(bed.hosts.host(ADDRESS).released).toBe('Orphan');
    expect(pool.taken()).toHaveLength(1);
  });
});
