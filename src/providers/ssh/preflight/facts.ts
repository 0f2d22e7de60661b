/** Reads what the script of the preflight printed. A fact that the host did not tell is undefined, never a default. Pure. */
import { LAST_FACT } from './script.ts';

export interface PreflightFacts {
  readonly uid?: number;
  /** By the clock of the host. */
  readonly time?: Date;
  readonly os?: string;
  readonly arch?: string;
  readonly kernel?: string;
  readonly hostName?: string;
  readonly machineId?: string;
  readonly systemUuid?: string;
  readonly release?: { readonly id: string; readonly version?: string; readonly name?: string };
  readonly cgroupVersion?: number;
  readonly cgroupControllers?: readonly string[];
  readonly hasSystemd: boolean;
  readonly systemdVersion?: number;
  readonly swaps: readonly string[];
  readonly memoryKib?: number;
  readonly space: Readonly<Record<string, Usage>>;
  readonly inodes: Readonly<Record<string, Usage>>;
  readonly writable: readonly string[];
  readonly notWritable: readonly string[];
  readonly timeSync: readonly string[];
  readonly processes: readonly string[];
  /** The TCP ports with a listener. Undefined: they could not be read. */
  readonly listens?: readonly number[];
  readonly nameservers: readonly string[];
  /** The address to which the name of the API server resolves; empty: to none. */
  readonly apiAddress?: string;
  readonly apiPort?: string;
  readonly paths: readonly string[];
  readonly cniConfigs: readonly string[];
  readonly interfaces: readonly string[];
  readonly sysctls: Readonly<Record<string, number>>;
  readonly modules: readonly string[];
  readonly missingModules: readonly string[];
  readonly selinuxEnforce?: string;
  readonly programs: readonly string[];
  /** The shared libraries that the program of the agent needs, and that the host has. */
  readonly libraries: readonly string[];
}

/** The size of a file system, in KiB or in files. */
export interface Usage {
  readonly total: number;
  readonly free: number;
}

/** Returns undefined for an output that is not complete. */
export function parseFacts(output: string): PreflightFacts | undefined {
  const lines = output.split('\n').map((line) => line.replace(/\r$/, ''));
  if (!lines.includes(LAST_FACT)) return undefined;
  const table = Map.groupBy(lines.flatMap(factOf), ({ name }) => name);
  const all = (name: string): string[] => [...new Set((table.get(name) ?? []).map(({ value }) => value))];
  const read = {
    all,
    text: (name: string) => all(name).find((value) => value !== ''),
    names: [...table.keys()],
  };
  return { ...identityFacts(read), ...systemFacts(read), ...resourceFacts(read), ...networkFacts(read) };
}

function factOf(line: string): readonly { readonly name: string; readonly value: string }[] {
  const at = line.indexOf('=');
  return at > 0 ? [{ name: line.slice(0, at), value: line.slice(at + 1) }] : [];
}

interface FactReader {
  readonly names: readonly string[];
  readonly all: (name: string) => string[];
  /** The first value that is not empty. */
  readonly text: (name: string) => string | undefined;
}

function identityFacts({ text, all }: FactReader) {
  const id = unquoted(text('release-ID'));
  const version = unquoted(text('release-VERSION_ID'));
  const name = unquoted(text('release-PRETTY_NAME'));
  const seconds = wholeNumber(text('time'));
  return present({
    uid: wholeNumber(text('uid')),
    time: seconds === undefined ? undefined : new Date(seconds * 1000),
    os: text('os'),
    arch: text('arch'),
    kernel: text('kernel'),
    hostName: text('hostname'),
    machineId: text('machine-id'),
    systemUuid: text('system-uuid')?.toLowerCase(),
    release: id === undefined ? undefined : { id, ...present({ version, name }) },
    processes: all('process'),
    paths: all('path'),
    programs: all('program'),
    libraries: all('library'),
  });
}

function systemFacts({ text, all, names }: FactReader) {
  return present({
    cgroupVersion: wholeNumber(text('cgroup')),
    cgroupControllers: text('cgroup-controllers')?.split(' ').filter(Boolean),
    hasSystemd: text('systemd') === 'running',
    systemdVersion: wholeNumber(/^\d+/.exec(text('systemd-version') ?? '')?.[0]),
    sysctls: recordOf(names, 'sysctl.', (name) => wholeNumber(text(name))),
    modules: all('module'),
    missingModules: all('no-module'),
    selinuxEnforce: text('selinux-enforce'),
    timeSync: all('time-sync'),
  });
}

function resourceFacts({ text, all, names }: FactReader) {
  return present({
    swaps: all('swap'),
    memoryKib: wholeNumber(text('memory-kib')),
    space: recordOf(names, 'space-kib.', (name) => usageOf(text(name))),
    inodes: recordOf(names, 'inodes.', (name) => usageOf(text(name))),
    writable: all('writable'),
    notWritable: all('not-writable'),
  });
}

function networkFacts({ text, all }: FactReader) {
  const [apiAddress] = all('api-address');
  return present({
    listens:
      all('sockets').length === 0 ? undefined : all('listens').map((port) => Number.parseInt(port, 16)),
    nameservers: all('nameserver'),
    apiAddress,
    apiPort: text('api-port'),
    cniConfigs: all('cni'),
    interfaces: all('interface'),
  });
}

type Present<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Leaves out the fields that are undefined. */
function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

function recordOf<T>(
  names: readonly string[],
  prefix: string,
  read: (name: string) => T | undefined,
): Readonly<Record<string, T>> {
  const entries = names.filter((name) => name.startsWith(prefix)).map((name) => [name, read(name)] as const);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name.slice(prefix.length), value]])),
  );
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function usageOf(text: string | undefined): Usage | undefined {
  const [total, free] = (text ?? '').split(' ').map(wholeNumber);
  return total === undefined || free === undefined ? undefined : { total, free };
}

function unquoted(text: string | undefined): string | undefined {
  return text?.replace(/^(["'])(.*)\1$/, '$2');
}
