/**
 * Which Events a process of node-problem-detector writes: it names its files in its command line, and the agent, which runs as
 * root, reads them as the process does.
 */
import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { listAt, textAt } from '../../../kube/objects/json.ts';

/** Files of monitors that make Events, by the flags of now and those of earlier versions. */
const FILES = /^--(?:config\.)?(?:system-log-monitor|custom-plugin-monitor)s?$/;
/** Flags that keep it from writing Events. */
const NO_EVENTS = ['--enable-k8s-exporter=false', '--k8s-exporter-write-events=false'];
/** A container decides what is in its file. */
const MAX_FILE_BYTES = 1024 ** 2;

/** Returns the reasons of all these processes; undefined without a process, or when those of one of them are unknown. */
export async function readNpdReasons(processes: readonly string[]): Promise<ReadonlySet<string> | undefined> {
  if (processes.length === 0) return undefined;
  try {
    const found = await Promise.all(processes.map(readReasons));
    return new Set(found.flat());
  } catch {
    return undefined;
  }
}

async function readReasons(process: string): Promise<readonly string[]> {
  const args = (await readFile(`${process}/cmdline`, 'utf8')).split('\0');
  if (args.some((arg) => NO_EVENTS.includes(arg))) return [];
  const files = monitorFilesOf(args);
  if (files.length === 0) throw new Error(`${process} names no file of a monitor`);
  const contents = await Promise.all(files.map((file) => readOf(process, file)));
  return contents.flatMap((content) => {
    const rules = listAt(JSON.parse(content), 'rules');
    return rules.flatMap((rule) => textAt(rule, 'reason') ?? []);
  });
}

/** The value follows the flag after an equals sign, or as the next argument. */
export function monitorFilesOf(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, index) => {
    const [flag = '', value = args[index + 1] ?? ''] = arg.split(/=(.*)/s, 2);
    return FILES.test(flag) ? value.split(',').filter((file) => file !== '') : [];
  });
}

async function readOf(process: string, file: string): Promise<string> {
  const path = file.startsWith('/') ? `${process}/root${file}` : `${process}/cwd/${file}`;
  // Without O_NONBLOCK, opening a named pipe would block a thread of the agent until a program writes to it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile() || stat.size > MAX_FILE_BYTES) throw new Error(`${path} is not a file of a monitor`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}
