/**
 * The contract of provider ssh over a real sshd. Around the provider, this does what the machine controller does with a host: it installs the
 * agent (a stand-in) on the host that was taken, and releases the host before it goes back; the provider verifies over SSH that it is clean.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineImport } from '../../../../src/api/generated/types.ts';
import { NAMESPACE } from '../../../../src/api/names.ts';
import { createCleanCheck } from '../../../../src/controllers/machine/import/execute/clean-check.ts';
import { type ImportParts, withTarget } from '../../../../src/controllers/machine/import/execute/steps.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import type { Provider } from '../../../../src/providers/contract.ts';
import type { ImportHost } from '../../../../src/providers/ssh/import/contract.ts';
import { openImportHosts } from '../../../../src/providers/ssh/import/open.ts';
import { type PoolBed, poolBed, poolObject } from './bed.ts';
import type { SshdHosts } from './sshd-hosts.ts';

export const POOL = 'rack7';
const SECRET_NAME = 'rack7-ssh';
/** Where the agent records whose host it is. */
const RECORD = 'var/lib/kubenode/import.json';

export interface SshdPoolOptions {
  readonly programs: string;
  /** Labels and zone, which every host has. */
  readonly fields?: object;
}

export function sshdPool(hosts: SshdHosts, { programs, fields = {} }: SshdPoolOptions): PoolBed {
  hosts.reset();
  const clock = createSystemClock();
  const parts: ImportParts = {
    hosts: openImportHosts({ programs, clock }),
    clock,
    client: { get: () => Promise.resolve(secretOf(hosts)) } as unknown as Pick<Client, 'get'>,
    access: () => Promise.resolve({ server: 'https://k8s.example.com:6443' }),
  };
  const { port, user, hostKeys, addresses } = hosts;
  const content = {
    port,
    user,
    hostKeys,
    credentialsRef: { name: SECRET_NAME },
    hosts: addresses.map((address) => ({ address, ...fields })),
  };
  const inTurn = turns();
  const bed = poolBed(poolObject(POOL, content), createCleanCheck(parts), (provider) =>
    importing(provider, parts, inTurn),
  );
  return {
    ...bed,
    countHosts: (uid) => Promise.resolve(hostsOf(hosts, uid).length),
    visibleTexts: async () => [...(await bed.visibleTexts()), ...hosts.texts()],
  };
}

/** The addresses of the hosts on which this Machine is recorded. */
export function hostsOf({ addresses, root }: SshdHosts, machineUid: string): readonly string[] {
  return addresses.filter((address) => {
    const record = join(root(address), RECORD);
    return existsSync(record) && readFileSync(record, 'utf8').includes(machineUid);
  });
}

function secretOf({ key }: SshdHosts): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: SECRET_NAME,
      namespace: NAMESPACE,
      annotations: { 'kubenode.dev/secret-use': 'ssh' },
    },
    data: { 'ssh-privatekey': Buffer.from(key.privateKey).toString('base64') },
  };
}

type InTurn = <T>(id: string, work: () => Promise<T>) => Promise<T>;

/** One process works on the hosts at a time, which has the Lease of the controllers, and it does one step of a Machine at a time. */
function turns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (id, work) => {
    const turn = (last.get(id) ?? Promise.resolve()).then(work, work);
    last.set(id, turn);
    return await turn;
  };
}

function importing(provider: Provider, parts: ImportParts, inTurn: InTurn): Provider {
  /** Works on the host that the Machine has. A Machine that was deleted has none. */
  async function onHost(
    id: string,
    signal: AbortSignal,
    work: (host: ImportHost) => Promise<unknown>,
  ): Promise<void> {
    const found = await provider.get(id, signal);
    const spec: MachineImport | undefined = found?.import;
    if (!found || !spec) return;
    const { machine, tags } = found;
    await withTarget({ machine, machineUid: tags.machineUid, spec }, { parts, signal }, work);
  }

  return {
    ...provider,
    async create(request, signal) {
      const id = await provider.create(request, signal);
      await inTurn(id, () => onHost(id, signal, (host) => host.install()));
      return id;
    },
    async delete(id, signal) {
      await inTurn(id, async () => {
        await onHost(id, signal, (host) => host.release('Restore'));
        await provider.delete(id, signal);
      });
    },
  };
}
