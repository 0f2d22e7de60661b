/** Records on the host that a Machine took it over, and how far its release is. They are all that a release needs. */
import { optional } from '../../kube/objects/optional.ts';
import type { HostFiles } from '../host/port.ts';
import type { AgentUnitOptions } from '../install/own-unit.ts';
import { IMPORT_FILE, RELEASE_FILE } from '../layout.ts';
import { readStateFile, writeStateFile } from '../state-file.ts';

export interface MachineOwner {
  readonly machine: string;
  /** The UID of the Machine. It is missing on a host that was made from an image: the Machine may come later. */
  readonly machineUid?: string;
  /** The UID of the cluster of the Machine. */
  readonly clusterUid?: string;
}

export interface ImportRecord extends MachineOwner {
  readonly at: string;
  /** The version of the program that was installed last. */
  readonly version: string;
  /** The directories of others that were missing before, and that a release removes again when they are empty. */
  readonly created: readonly string[];
  /** The paths that were there before, of what components may make and a release removes again. Absent: an earlier program recorded the host. */
  readonly before?: readonly string[];
  /** The unit of the agent. It is missing on a host without systemd. */
  readonly unit?: AgentUnitOptions;
  /** The SHA-256 of the file with the credentials of registries that an import has written. Absent: none did. */
  readonly registries?: readonly string[];
  /** Whether the program belongs to somebody else, such as a package: a release leaves it. */
  readonly keepsProgram: boolean;
}

export type HostCleanup = 'Restore' | 'Wipe' | 'Orphan';

export interface ReleaseRecord {
  readonly cleanup: HostCleanup;
  readonly at: string;
  /** The steps that were begun, in order. Each can be repeated. */
  readonly begun: readonly string[];
}

type StateFiles = Pick<HostFiles, 'read' | 'write'>;

export async function readImportRecord(files: StateFiles): Promise<ImportRecord | undefined> {
  return await readStateFile<ImportRecord>(files, IMPORT_FILE);
}

export async function writeImportRecord(files: StateFiles, record: ImportRecord): Promise<void> {
  await writeStateFile(files, IMPORT_FILE, record);
}

export async function readReleaseRecord(files: StateFiles): Promise<ReleaseRecord | undefined> {
  return await readStateFile<ReleaseRecord>(files, RELEASE_FILE);
}

export async function writeReleaseRecord(files: StateFiles, record: ReleaseRecord): Promise<void> {
  await writeStateFile(files, RELEASE_FILE, record);
}

/** Returns the owner with what is known of it by now: a UID that was recorded once stays. */
export function mergeOwner(recorded: MachineOwner | undefined, given: MachineOwner): MachineOwner {
  return {
    machine: given.machine,
    ...optional('machineUid', given.machineUid ?? recorded?.machineUid),
    ...optional('clusterUid', given.clusterUid ?? recorded?.clusterUid),
  };
}
