/**
 * Defines everything that the agent observes and does outside of itself. `systemd` acts on a real node, `sandbox` on a directory with child
 * processes, `memory` on maps (simulation and crash tests). Every write can be repeated: a call that finds its work done changes nothing.
 * Paths are absolute paths of the host; a sandbox maps them into its directory.
 */
import type { ComponentProbe, ComponentUnit } from '../../api/generated/types.ts';

export interface Host {
  readonly type: 'systemd' | 'sandbox' | 'memory';
  readonly capabilities: HostCapabilities;
  /** The directory of the files of the host on this machine. Programs that run on the host find them there. */
  readonly directory: string;
  readonly files: HostFiles;
  readonly units: HostUnits;
  readonly processes: HostProcesses;
  readonly node: HostNode;
  readonly network: HostNetwork;
}

/** Reports what a host can do. What it cannot do is reported as such, never pretended. */
export interface HostCapabilities {
  /** Whether it has units as text of a systemd unit, drop-ins, and units that exist already. */
  readonly systemdUnits: boolean;
  /** Whether owners of files and users of units are applied, not only recorded. */
  readonly ownership: boolean;
  /** Whether programs really run. A host in memory takes each for one that works. */
  readonly programs: boolean;
  /** Whether programs that `run` starts have limits of memory and processes. */
  readonly limits: boolean;
}

export interface FileStat {
  readonly type: 'File' | 'Directory' | 'Link' | 'Other';
  /** The permission bits in octal, such as 0644. */
  readonly mode: string;
  /** The owner as user:group. */
  readonly owner: string;
  /** The owner in numbers, where owners are applied. */
  readonly ownerIds?: string;
  readonly sizeBytes: number;
  /** The target of a link; absent for other types. */
  readonly target?: string;
  /** The revision, which is another text after each change of the file. */
  readonly revision: string;
  readonly modifiedAt: Date;
  /** The number of names of the file: a hard link is one. */
  readonly names: number;
  /** The inode, which is the same for every name of the file. */
  readonly inode: string;
}

export interface FileAttributes {
  readonly mode: string;
  readonly owner: string;
}

export interface HostFiles {
  /** Returns the status of a file; undefined when the file does not exist. Follows no link in the last path segment. */
  stat(path: string): Promise<FileStat | undefined>;
  read(path: string): Promise<Uint8Array | undefined>;
  /** Returns the SHA-256 in hex of a file, which is read as a stream. */
  digest(path: string): Promise<string | undefined>;
  list(directory: string): Promise<readonly string[]>;
  /** Writes a file, atomic and durable: temporary file, fsync, rename, fsync of the directory. Replaces a link by a file. */
  write(path: string, content: Uint8Array, attributes: FileAttributes): Promise<void>;
  setAttributes(path: string, attributes: FileAttributes): Promise<void>;
  /** Appends to a file and syncs it. Creates it when it is missing. */
  append(path: string, content: Uint8Array): Promise<void>;
  /** Creates or replaces a link, atomically: an existing link points to the old target or to the new one. */
  link(path: string, target: string): Promise<void>;
  makeDirectory(path: string, mode?: string): Promise<void>;
  /** Copies a file as a stream. */
  copy(from: string, to: string, attributes: FileAttributes): Promise<void>;
  /** Renames durably: both directories are synced. Replaces what is at `to`. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file, a link or a whole directory. Follows no link. */
  remove(path: string): Promise<void>;
  /** Returns the usage of the file system with that path. For a path that is missing, it is that of the nearest directory above it. */
  usage(path: string): Promise<DiskUsage>;
  /** Extracts a .tar.gz. Refuses absolute paths, `..`, devices, and links that leave the directory, before it writes any. */
  unpack(archive: string, directory: string, limits: UnpackLimits): Promise<void>;
  /** Calls `onChange` after a path or something in it changed. May miss changes: a scan runs beside it. */
  watch(paths: readonly string[], onChange: (path: string) => void): AsyncDisposable;
  /** Makes the watches again that could not be made, and returns why some still miss every change. */
  retryWatches(): string | undefined;
}

export interface DiskUsage {
  readonly usedBytes: number;
  /** The bytes that programs without special rights may still write. */
  readonly freeBytes: number;
  /** The number of used inodes. It and `freeInodes` are 0 on a file system without a fixed number of inodes. */
  readonly usedInodes: number;
  readonly freeInodes: number;
}

export interface UnpackLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** Whether the archive is a layer of an image: what makes sense only in the root of a container is left out. */
  readonly isLayer?: boolean;
}

/** Each unit has every placeholder replaced, and names the component that it belongs to. */
export interface UnitDefinition extends ComponentUnit {
  readonly component: string;
}

export interface UnitStatus {
  /** Whether definition and drop-ins on the host are exactly what `write` would write. */
  readonly defined: boolean;
  readonly enabled: boolean;
  readonly masked: boolean;
  /** The state of the unit. A OneShot is Active after it succeeded, until it is stopped. */
  readonly active: 'Active' | 'Activating' | 'Deactivating' | 'Inactive' | 'Failed';
  /** The main process of an active unit. */
  readonly process?: UnitProcess;
  /** The number of starts by the supervisor since the last start by the agent. */
  readonly restarts: number;
  /** The result of the last run, where the host remembers it: exit code, or the signal that ended it. */
  readonly result?: string;
  /** Tells why the unit does not run, as far as the host knows: its last log lines, or who had it stopped. */
  readonly evidence?: string;
  /** Why a unit of the host that runs is not this definition. Completes a sentence; absent where nothing differs, or the unit is ours. */
  readonly hostDifference?: string;
}

export interface UnitProcess {
  readonly pid: number;
  /** The start time of the process; together with the pid and the boot id it identifies exactly one process. */
  readonly startId: string;
  readonly startedAt: string;
  /** The SHA-256 in hex of the program that the process runs, also when its file was replaced since. */
  readonly programDigest?: string;
  /** Whether a signal has stopped it: its sockets still accept connections, and nothing answers. */
  readonly isSuspended?: true;
}

export interface HostUnits {
  /** Returns the status of a unit; undefined when the host has no such unit. */
  status(unit: UnitDefinition): Promise<UnitStatus | undefined>;
  /** Writes definition and drop-ins and loads them. Does not start or restart anything. */
  write(unit: UnitDefinition): Promise<void>;
  /** Removes what `write` wrote, and restores what was there before. The unit must be stopped, unless the host had it. */
  remove(unit: UnitDefinition): Promise<void>;
  /** Enables or disables the start at boot, and unmasks the unit. */
  setEnabled(unit: string, enabled: boolean): Promise<void>;
  /** Starts a unit. Resolves when it is active, or for a OneShot when it has ended. Throws HostError `UnitFailed` otherwise. */
  start(unit: string): Promise<void>;
  /** Stops a unit. Resolves when no process of it is left. */
  stop(unit: string): Promise<void>;
  reload(unit: string): Promise<void>;
  /** Returns the last lines that the unit printed, without secrets, at most that many bytes. */
  logTail(unit: string, maxBytes: number): Promise<string>;
}

export interface RunLimits {
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Whether what the program prints to stderr is dropped. */
  readonly onlyStdout?: boolean;
  /**
   * The rights of the host with which the program runs on a host with systemd, with none of the restrictions of the agent. Without them,
   * and on other hosts, it has the rights of the agent.
   */
  readonly rights?: ProgramRights;
}

/** The rights of a program. Without a field they are those of root. With one of them, no program that it starts gains others. */
export interface ProgramRights {
  /** The user, root by default. */
  readonly user?: string;
  /** The capabilities, such as CAP_NET_ADMIN; none by default. */
  readonly capabilities?: readonly string[];
}

export interface RunResult {
  /** The exit code; undefined when a signal ended the program. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly output: string;
  readonly truncated: boolean;
}

export interface HostProcesses {
  /**
   * Runs a program to its end, in a group of its own that is killed as a whole at the time limit. As a shell, it reports
   * exit code 127 for a program that does not exist.
   */
  run(argv: readonly string[], limits: RunLimits): Promise<RunResult>;
  /** Returns the inodes of the files that processes hold open. Throws when that is not known of each of them. */
  openInodes(): Promise<ReadonlySet<string>>;
  /**
   * Ends the processes that work in a directory, with all that they started, and unmounts what is mounted below it: the directory can be removed
   * then. Where programs do not run by themselves nothing is done.
   */
  freeDirectory(directory: string): Promise<void>;
}

export interface HostNode {
  bootId(): Promise<string>;
  machineId(): Promise<string>;
  facts(): Promise<HostFacts>;
  health(): Promise<HostHealth>;
  /** Returns the time since the boot, by a clock that is never set. */
  uptimeMs(): Promise<number>;
  /** Reboots the host. The agent process may end before this resolves. */
  reboot(): Promise<void>;
  /**
   * Has the kernel reboot the host after this time, also when the shutdown hangs or has ended the agent. Resolves when that is arranged; a boot
   * before then ends it. Absent: the host has no kernel of its own.
   */
  forceReboot?(afterMs: number): Promise<void>;
}

export interface HostFacts {
  readonly os: string;
  readonly osImage: string;
  readonly kernel: string;
  readonly arch: 'amd64' | 'arm64';
  readonly bootedAt: Date;
}

/** Reports the health of a host. A field is missing where the kernel does not report it, or a sandbox shares it with its machine. */
export interface HostHealth {
  /**
   * The processes that wait in the kernel and cannot be ended, with the number of times that each has run: the same text means that the
   * process has not run since.
   */
  readonly blockedTasks?: readonly string[];
  /** The part of the last minute in percent for which all tasks waited for memory or storage. */
  readonly pressure?: { readonly memory: number; readonly io: number };
}

export interface DownloadLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly bytesPerSecond?: number | undefined;
  /** The SHA-256 in hex of the content, by which a registry knows it. */
  readonly sha256?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface HostNetwork {
  /**
   * Streams http, https, file and oci URLs to `to`. Checks nothing but the limits: the caller verifies the digest. Continues what is at `to` if
   * it is a part of the same content. Throws RetryLater when the server is busy or the connection broke.
   */
  download(url: string, to: string, limits: DownloadLimits): Promise<void>;
  /** Returns the numbers to use for the declared ports, the same ones at each call. */
  assignPorts(component: string, ports: readonly DeclaredPort[]): Promise<ReadonlyMap<string, number>>;
  /** Runs a probe of type http, tcp or socket, with the port numbers that this host assigned. */
  probe(probe: ComponentProbe, ports: ReadonlyMap<string, number>): Promise<ProbeAnswer>;
}

export interface DeclaredPort {
  readonly name: string;
  readonly port: number;
}

export interface ProbeAnswer {
  readonly passed: boolean;
  /** The status code, error code or output, for people. */
  readonly detail: string;
}
