/**
 * Provider local: the machines are sandboxes of this machine, each with an agent of its own, or simulated. Needs no root. What exists is
 * on the disk and in the process table, never in memory: any process may be killed at any time, and the next call continues.
 */
import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../os/clock.ts';
import { withLock } from '../../os/lock.ts';
import {
  type Instance,
  type InstanceFilter,
  type InstanceRequest,
  type Provider,
  ProviderError,
} from '../contract.ts';
import { type AgentPrograms, createAgents } from './agents.ts';
import { LOCAL } from './config.ts';
import { toProviderError } from './errors.ts';
import { deletedMark, type InstanceFolder, instanceFolder, isUid, listUids, requireUid } from './folders.ts';
import {
  createInstance,
  deleteLocalInstance,
  type LocalParts,
  observeInstance,
  powerInstance,
} from './instances.ts';

export interface LocalProviderOptions {
  /** Where the folders of the instances are. */
  readonly machines: string;
  readonly programs: AgentPrograms;
  readonly clock: Clock;
  /** At most so many instances. */
  readonly limit?: number;
}

/** As many as the pods of a small cluster; each simulated one takes about a megabyte. */
const DEFAULT_LIMIT = 5000;

export async function openLocalProvider(options: LocalProviderOptions): Promise<Provider> {
  try {
    await mkdir(options.machines, { recursive: true, mode: 0o700 });
    // The environment of processes contains the path: it must not depend on how a folder is named.
    const machines = await realpath(options.machines);
    await forgetDeleted(machines, options.clock);
    return createLocalProvider({ ...options, machines });
  } catch (error) {
    throw toProviderError(error, options.machines, 'Retryable');
  }
}

function createLocalProvider({
  machines,
  programs,
  clock,
  limit = DEFAULT_LIMIT,
}: LocalProviderOptions): Provider {
  const agents = createAgents({ machines, programs, clock });
  const parts: LocalParts = { machines, agents, clock, limit };

  async function guarded<T>(
    uid: string,
    { signal, otherwise = 'Retryable' }: Guarding,
    work: (folder: InstanceFolder) => Promise<T>,
  ): Promise<T> {
    const folder = instanceFolder(machines, uid);
    try {
      signal.throwIfAborted();
      return await work(folder);
    } catch (error) {
      if (signal.aborted) throw error;
      throw toProviderError(error, folder.path, otherwise);
    }
  }

  /** One act at a time on an instance, whichever process it is in. */
  async function locked<T>(
    uid: string,
    guarding: Guarding,
    work: (folder: InstanceFolder) => Promise<T>,
  ): Promise<T> {
    const { signal } = guarding;
    return await guarded(uid, guarding, (folder) =>
      withLock(`kubenode instance ${folder.path}`, { signal }, () => work(folder)),
    );
  }

  return {
    ...LOCAL,
    async create(request, signal) {
      const { machineUid } = request.tags;
      const locking = { signal, otherwise: 'Ambiguous' } as const;
      throwIfRefused(request);
      return await locked(machineUid, locking, (folder) => createInstance(request, folder, parts));
    },
    async get(id, signal) {
      return await guarded(requireUid(id), { signal }, (folder) => observeInstance(folder, agents));
    },
    async find(filter, signal) {
      signal.throwIfAborted();
      const { machineUid } = filter;
      const uids = machineUid === undefined ? await listUids(machines) : [machineUid].filter(isUid);
      const found: Instance[] = [];
      for (const uid of uids) {
        const instance = await guarded(uid, { signal }, (folder) => observeInstance(folder, agents));
        if (instance && hasTags(instance, filter)) found.push(instance);
      }
      return found;
    },
    async delete(id, signal) {
      const uid = requireUid(id);
      await locked(uid, { signal }, (folder) => deleteLocalInstance(uid, folder, parts));
      await agents.endUnusedSimulator(signal);
    },
    async power(id, action, signal) {
      await locked(requireUid(id), { signal }, (folder) => powerInstance(folder, action, parts));
    },
    async events(signal) {
      signal.throwIfAborted();
      return [];
    },
  };
}

function hasTags({ tags }: Instance, { clusterUid, set }: InstanceFilter): boolean {
  return tags.clusterUid === clusterUid && (set === undefined || tags.set === set);
}

interface Guarding {
  readonly signal: AbortSignal;
  readonly otherwise?: 'Ambiguous' | 'Retryable';
}

function throwIfRefused(request: InstanceRequest): void {
  const { machineUid } = request.tags;
  if (!isUid(machineUid)) {
    const message = `not the UID of a Machine: ${JSON.stringify(machineUid.slice(0, 300))}`;
    throw new ProviderError('Terminal', message, { reason: 'InvalidToken' });
  }
  const reason =
    LOCAL.configReason(request) ??
    (LOCAL.hasInstance(request) ? undefined : 'spec.infra.config asks for no instance');
  if (reason !== undefined) throw new ProviderError('Terminal', reason, { reason: 'InvalidConfig' });
}

/** Longer than any call of `create` is under way. */
const REMEMBER_MS = 24 * 3_600_000;

async function forgetDeleted(machines: string, clock: Clock): Promise<void> {
  const folder = dirname(deletedMark(machines, 'any'));
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    // Another process may have removed it.
    const mtimeMs = (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs;
    if (mtimeMs === undefined || clock.now().getTime() - mtimeMs <= REMEMBER_MS) continue;
    await rm(join(folder, name), { force: true });
  }
}
