/**
 * Reads what this host permits to repair jobs: a file of the host, so that permission to write to the API cannot extend it. Without the
 * file the defaults apply; with a damaged one no step runs that asks it.
 */

import { DEFAULT_PERMITS, type StepPermits } from '../../api/steps/permits.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { isRecord } from '../../kube/objects/json.ts';
import { messageOf } from '../../os/errors.ts';
import type { HostFiles } from '../host/port.ts';
import { JOBS_CONFIG_FILE } from '../layout.ts';

export interface DiagnosticsProfile {
  /** The programs, by the name of the file that gets their output. None is a shell text from the API. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  /** The files that are copied, such as logs. */
  readonly files: readonly string[];
}

export interface JobsConfig {
  /** The services that RestartService may restart. */
  readonly services: readonly string[];
  /** The maximum number of restarts of one service in an hour. */
  readonly restartsPerHour: number;
  /** The service of the problem detector that RearmDetector restarts. */
  readonly detector: string;
  readonly profiles: Readonly<Record<string, DiagnosticsProfile>>;
  /** The directories in which CleanDisk may delete, by target. */
  readonly clean: { readonly rotatedLogs: readonly string[]; readonly coreDumps: readonly string[] };
  /**
   * The directories by the name of their file system, as facts and CleanDisk know it: nodefs, imagefs, or an absolute path. The first
   * directory that exists counts.
   */
  readonly filesystems: Readonly<Record<string, readonly string[]>>;
  /** The client of the container runtime. */
  readonly crictl: string;
  /** The program with which the driver of NVIDIA resets GPUs. */
  readonly nvidiaSmi: string;
}

const DEFAULT_PROFILE: DiagnosticsProfile = {
  commands: {
    'disk.txt': ['df', '-h'],
    'processes.txt': ['ps', '-eo', 'pid,ppid,state,wchan:32,pcpu,rss,etimes,args', '--sort=-pcpu'],
    'memory.txt': ['cat', '/proc/meminfo'],
    'pressure.txt': ['grep', '-r', '', '/proc/pressure'],
    'units.txt': ['systemctl', 'list-units', '--failed', '--no-pager'],
    'kernel.txt': ['journalctl', '--dmesg', '--boot', '--no-pager', '--lines=5000'],
    'journal.txt': ['journalctl', '--boot', '--no-pager', '--lines=5000'],
  },
  files: [],
};

export const DEFAULT_JOBS_CONFIG: JobsConfig = {
  services: DEFAULT_PERMITS.services,
  restartsPerHour: 3,
  detector: 'node-problem-detector',
  profiles: { default: DEFAULT_PROFILE },
  clean: { rotatedLogs: ['/var/log'], coreDumps: ['/var/lib/systemd/coredump', '/var/crash'] },
  filesystems: {
    nodefs: ['/var/lib/kubelet'],
    imagefs: ['/var/lib/containerd', '/var/lib/containers/storage'],
  },
  crictl: 'crictl',
  nvidiaSmi: 'nvidia-smi',
};

/** The maximum number of file systems in the configuration; it and those below are what the status of a Machine has room for. */
const MAX_FILESYSTEMS = 8;
const MAX_SERVICES = 64;
const MAX_PROFILES = 32;
const MAX_NAME = 63;

/** Returns what the agent reports: sorted, and without names that no rule can ask for. */
export function permitsOf({ services, profiles }: JobsConfig): StepPermits {
  return {
    services: reportedNames(services, MAX_SERVICES),
    profiles: reportedNames(Object.keys(profiles), MAX_PROFILES),
  };
}

function reportedNames(names: readonly string[], most: number): readonly string[] {
  const fitting = [...new Set(names)].filter((each) => each.length <= MAX_NAME);
  return fitting.toSorted(byCode).slice(0, most);
}

/** Reads the configuration. A text explains what is wrong with the file. */
export async function readJobsConfig(files: Pick<HostFiles, 'read'>): Promise<JobsConfig | string> {
  const content = await files.read(JOBS_CONFIG_FILE);
  if (!content) return DEFAULT_JOBS_CONFIG;
  try {
    return parseJobsConfig(JSON.parse(new TextDecoder().decode(content)));
  } catch (error) {
    return `${JOBS_CONFIG_FILE} is not JSON: ${messageOf(error)}`;
  }
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isProfile: Check = (value) =>
  isRecord(value) &&
  Object.keys(value).every((field) => field === 'commands' || field === 'files') &&
  isTexts(value['files'] ?? []) &&
  isRecord(value['commands'] ?? {}) &&
  Object.entries(value['commands'] ?? {}).every(([name, argv]) => isFileName(name) && isTexts(argv));

const FIELDS: Readonly<Record<keyof JobsConfig, Check>> = {
  services: isTexts,
  restartsPerHour: (value) => Number.isInteger(value) && Number(value) >= 0,
  detector: isText,
  profiles: (value) => isRecord(value) && Object.values(value).every(isProfile),
  clean: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([target, folders]) => Object.hasOwn(DEFAULT_JOBS_CONFIG.clean, target) && areFolders(folders),
    ),
  filesystems: (value) =>
    isRecord(value) &&
    Object.keys({ ...DEFAULT_JOBS_CONFIG.filesystems, ...value }).length <= MAX_FILESYSTEMS &&
    Object.entries(value).every(([name, folders]) => isFilesystem(name) && areFolders(folders)),
  crictl: isText,
  nvidiaSmi: isText,
};

function isFilesystem(name: string): boolean {
  return Object.hasOwn(DEFAULT_JOBS_CONFIG.filesystems, name) || (name.length <= 128 && areFolders([name]));
}

/** Tells whether a name is that of a file: a bundle is one directory without subdirectories. */
function isFileName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** Tells whether all are folders that may be cleaned: never the whole disk, and no path that leads elsewhere. */
function areFolders(value: unknown): boolean {
  return (
    isTexts(value) && (value as string[]).every((path) => /^(\/[^/]+)+$/.test(path) && !path.includes('/..'))
  );
}

export function parseJobsConfig(value: unknown): JobsConfig | string {
  if (!isRecord(value)) return `${JOBS_CONFIG_FILE} is not an object`;
  const wrong = Object.entries(value).find(
    ([field, found]) => !Object.hasOwn(FIELDS, field) || !FIELDS[field as keyof JobsConfig](found),
  );
  if (wrong) return `${JOBS_CONFIG_FILE}: the field ${wrong[0]} is unknown or has a wrong value`;
  const config = value as unknown as Partial<JobsConfig>;
  const profiles = Object.entries({ ...DEFAULT_JOBS_CONFIG.profiles, ...config.profiles }).map(
    ([name, { commands = {}, files = [] }]: readonly [string, Partial<DiagnosticsProfile>]) =>
      [name, { commands, files }] as const,
  );
  return {
    ...DEFAULT_JOBS_CONFIG,
    ...config,
    profiles: Object.fromEntries(profiles),
    clean: { ...DEFAULT_JOBS_CONFIG.clean, ...config.clean },
    filesystems: { ...DEFAULT_JOBS_CONFIG.filesystems, ...config.filesystems },
  };
}
