/** What the host has of a component: the input of the planner. */
import type { FileAttributes, UnitStatus } from '../host/port.ts';

export interface ObservedFile {
  readonly type: 'File' | 'Directory' | 'Link' | 'Other';
  /** Of a file only. Absent when it is larger than any file of a component. */
  readonly content?: string;
  readonly mode: string;
  readonly owner: string;
  /** The same in numbers, where the host has them. */
  readonly ownerIds?: string;
  /** Of a link only. */
  readonly target?: string;
}

export interface ObservedProgram {
  /** SHA-256; absent when the file is missing. */
  readonly found?: string;
  /** As the artifact contains it. Absent when that is unknown. */
  readonly expected?: string;
  /** Absent when the file is missing. */
  readonly attributes?: FileAttributes;
  /** As it was installed. Absent when that is unknown. */
  readonly expectedAttributes?: FileAttributes;
}

export interface ComponentObservation {
  /** Boot of this observation. */
  readonly bootId: string;
  /** Artifacts by SHA-256. Complete: verified when it was placed, and verified again on use. */
  readonly artifacts: ReadonlyMap<string, 'Complete' | 'Downloaded'>;
  /** Version directories. One exists only when it is complete, because it gets its name last. */
  readonly directories: ReadonlySet<string>;
  /** By path: files and links of the component. A path that is missing on the host is missing here. */
  readonly files: ReadonlyMap<string, ObservedFile>;
  readonly units: ReadonlyMap<string, UnitStatus>;
  /** Programs in version directories, by path. */
  readonly programs: ReadonlyMap<string, ObservedProgram>;
  /** Paths whose original content is recorded, so that it can be restored. */
  readonly backups: ReadonlySet<string>;
}
