/**
 * Carries out the calls for one instance, in a process that holds its lock. Every step may be the last one before the process is killed.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../os/clock.ts';
import { systemCode } from '../../os/errors.ts';
import { fileExists, PRIVATE_MODE, writeFileAtomic } from '../../os/files.ts';
import { type Instance, type InstanceRequest, type PowerAction, ProviderError } from '../contract.ts';
import type { Agents } from './agents.ts';
import { localInstanceType } from './config.ts';
import {
  deletedMark,
  type InstanceFolder,
  instanceId,
  listRemoved,
  listUids,
  removedFolder,
} from './folders.ts';
import { type InstanceRecord, readRecord, writeNewInstance } from './record.ts';

export interface LocalParts {
  readonly machines: string;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly limit: number;
}

export async function createInstance(
  request: InstanceRequest,
  folder: InstanceFolder,
  parts: LocalParts,
): Promise<string> {
  const { machines, agents } = parts;
  const { machineUid } = request.tags;
  if (await fileExists(deletedMark(machines, machineUid))) {
    const message = `the instance of Machine ${request.machine} was deleted`;
    throw new ProviderError('Terminal', message, { reason: 'Deleted' });
  }
  const record = (await readRecord(folder)) ?? (await createRecord(request, parts));
  const { bootstrap } = request;
  if (bootstrap !== undefined) await writeFileAtomic(folder.bootstrapFile, bootstrap, PRIVATE_MODE);
  await agents.start(folder, record);
  return instanceId(machineUid);
}

async function createRecord(
  request: InstanceRequest,
  { machines, clock, limit }: LocalParts,
): Promise<InstanceRecord> {
  const { machine, tags, zone } = request;
  const { length } = await listUids(machines);
  if (length >= limit) {
    throw new ProviderError('Quota', `this machine has ${length} instances, ${limit} are allowed`);
  }
  const record: InstanceRecord = {
    version: 1,
    machine,
    type: localInstanceType(request) ?? 'sandbox',
    ...(zone === undefined ? {} : { zone }),
    tags,
    createdAt: clock.now().toISOString(),
  };
  await writeNewInstance(machines, record);
  return record;
}

export async function observeInstance(folder: InstanceFolder, agents: Agents): Promise<Instance | undefined> {
  const record = await readRecord(folder);
  if (!record) return undefined;
  const { machine, tags, zone, createdAt } = record;
  const { clusterUid, machineUid, set } = tags;
  return {
    id: instanceId(machineUid),
    machine,
    tags: { clusterUid, machineUid, ...(set === undefined ? {} : { set }) },
    state: (await agents.isRunning(folder, record)) ? 'Running' : 'Stopped',
    ...(zone === undefined ? {} : { zone }),
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    createdAt: new Date(createdAt),
  };
}

/** Deletes an instance. The mark comes first: a call of `create` that is still under way somewhere creates nothing after it. */
export async function deleteLocalInstance(
  uid: string,
  folder: InstanceFolder,
  { machines, agents }: LocalParts,
): Promise<void> {
  const mark = deletedMark(machines, uid);
  await mkdir(dirname(mark), { recursive: true, mode: 0o700 });
  await writeFile(mark, '', { mode: PRIVATE_MODE });
  const record = await readRecord(folder).catch(() => undefined);
  if (record?.type !== 'simulated') await agents.end(folder);
  await rename(folder.path, removedFolder(machines, uid)).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error;
  });
  for (const path of await listRemoved(machines)) {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

export async function powerInstance(
  folder: InstanceFolder,
  action: PowerAction,
  { agents }: LocalParts,
): Promise<void> {
  const record = await readRecord(folder);
  if (!record) throw new ProviderError('NotFound', `${folder.path} does not exist`);
  if (action !== 'on') {
    await writeFile(folder.offFile, '', { mode: PRIVATE_MODE });
    await agents.end(folder);
  }
  if (action === 'off') return;
  await rm(folder.offFile, { force: true });
  await agents.start(folder, record);
}
