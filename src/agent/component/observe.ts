/** Describes what the host has of a component: the input of the planner. */
import type { FileAttributes, UnitStatus } from '../host/port.ts';

export interface ObservedFile {
  readonly type: 'File' | 'Directory' | 'Link' | 'Other';
  /** The content of a file; absent for other types, and when it is larger than any file of a component. */
  readonly content?: string;
  readonly mode: string;
  readonly owner: string;
  /** The owner in numbers, where the host has them. */
  readonly ownerIds?: string;
  /** The target of a link; absent for other types. */
  readonly target?: string;
}

export interface ObservedProgram {
  /** The SHA-256 of the file; absent when it is missing. */
  readonly found?: string;
  /** The SHA-256 of the file in the artifact; absent when that is unknown. */
  readonly expected?: string;
  /** The attributes of the file; absent when it is missing. */
  readonly attributes?: FileAttributes;
  /** The attributes with which the file was installed; absent when that is unknown. */
  readonly expectedAttributes?: FileAttributes;
}

export interface ComponentObservation {
  /** The boot in which this was observed. */
  readonly bootId: string;
  /** The artifacts by SHA-256. A Complete one was verified when it was placed, and is verified again on use. */
  readonly artifacts: ReadonlyMap<string, 'Complete' | 'Downloaded'>;
  /** The version directories. One exists only when it is complete, because it gets its name last. */
  readonly directories: ReadonlySet<string>;
  /** The files and links of the component by path. A path that is missing on the host is missing here. */
  readonly files: ReadonlyMap<string, ObservedFile>;
  readonly units: ReadonlyMap<string, UnitStatus>;
  /** The programs in version directories, by path. */
  readonly programs: ReadonlyMap<string, ObservedProgram>;
  /** The paths whose original content is recorded, so that it can be restored. */
  readonly backups: ReadonlySet<string>;
}
