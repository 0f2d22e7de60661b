/** Where the provider keeps its instances: one folder for each, named by the UID of its Machine, below the folder of the local fleet. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UUID } from '../../api/patterns.ts';
import { systemCode } from '../../os/errors.ts';
import { ProviderError } from '../contract.ts';

export interface InstanceFolder {
  readonly path: string;
  readonly recordFile: string;
  /** Readable for this user only. */
  readonly bootstrapFile: string;
  /** The agent that was started last: saves a search through all processes. */
  readonly agentFile: string;
  readonly logFile: string;
  /** There while the instance is powered off. */
  readonly offFile: string;
  /** The sandbox. */
  readonly hostFolder: string;
}

export const RECORD_FILE = 'instance.json';
const PREFIX = 'local:///';
const IS_UID = new RegExp(UUID.regex);

export function instanceFolder(machines: string, uid: string): InstanceFolder {
  const path = join(machines, uid);
  return {
    path,
    recordFile: join(path, RECORD_FILE),
    bootstrapFile: join(path, 'bootstrap.json'),
    agentFile: join(path, 'agent.json'),
    logFile: join(path, 'agent.log'),
    offFile: join(path, 'off'),
    hostFolder: join(path, 'host'),
  };
}

/** Complete when it gets its name. */
export function newFolder(machines: string, uid: string): string {
  return join(machines, `.new-${uid}`);
}

export function removedFolder(machines: string, uid: string): string {
  return join(machines, `.removed-${uid}`);
}

/** There after the instance was deleted: a UID is never used again. */
export function deletedMark(machines: string, uid: string): string {
  return join(machines, '.deleted', uid);
}

/** UIDs become names of folders, so that nothing else may. */
export function isUid(text: string): boolean {
  return IS_UID.test(text) && text === text.toLowerCase();
}

export function instanceId(uid: string): string {
  return `${PREFIX}${uid}`;
}

/** Undefined: an id that this provider never gave. */
export function uidOfInstance(id: string): string | undefined {
  const uid = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : '';
  return isUid(uid) ? uid : undefined;
}

export function requireUid(id: string): string {
  const uid = uidOfInstance(id);
  if (uid !== undefined) return uid;
  const message = `not an id of provider local: ${JSON.stringify(id.slice(0, 300))}`;
  throw new ProviderError('Terminal', message, { reason: 'InvalidID' });
}

export async function listUids(machines: string): Promise<readonly string[]> {
  return (await listNames(machines)).filter(isUid).toSorted();
}

/** Deletions that were interrupted while the files were being removed. */
export async function listRemoved(machines: string): Promise<readonly string[]> {
  const names = (await listNames(machines)).filter((name) => name.startsWith('.removed-'));
  return names.map((name) => join(machines, name));
}

async function listNames(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
