/**
 * The digest of what the problem detector of this host runs: its files, and the programs that they name. Machines with one digest
 * observe alike, so a fault that only they report may be one of their detector.
 */
import { isDeepStrictEqual } from 'node:util';
import { digestOf } from '../../kube/objects/digest.ts';
import type { Host, HostFiles } from '../host/port.ts';
import { type ConfigFile, loadDetectorConfig } from './config/load.ts';
import { readConfigFolder } from './config-folder.ts';
import { pathInHost } from './host-path.ts';

export interface ConfigDigest {
  /** Returns the digest; undefined while no file configures the detector. */
  read(): Promise<string | undefined>;
}

interface DetectorHost extends Pick<Host, 'directory'> {
  readonly files: Pick<HostFiles, 'list' | 'read' | 'stat' | 'digest'>;
}

interface Program {
  readonly revision: string;
  readonly digest: string | undefined;
}

export function createConfigDigest(host: DetectorHost): ConfigDigest {
  let files: readonly ConfigFile[] = [];
  let paths: readonly string[] = [];
  let programs: ReadonlyMap<string, Program> = new Map();
  return {
    read: async () => {
      const found = (await readConfigFolder(host.files)) ?? [];
      if (!isDeepStrictEqual(found, files)) {
        files = found;
        paths = programsOf(found, host);
      }
      if (files.length === 0) return undefined;
      const entries = await Promise.all(paths.map(async (path) => [path, await programAt(path)] as const));
      programs = new Map(entries.flatMap(([path, program]) => (program ? [[path, program] as const] : [])));
      return digestOf({
        files: files.map((file) => ({ ...file, content: contentIn(file, host) })),
        programs: entries.map(([path, program]) => [path, program?.digest ?? 'missing']),
      });
    },
  };

  /** A large program is read again only after it changed. Of a link, what it points to may change. */
  async function programAt(path: string): Promise<Program | undefined> {
    const stat = await host.files.stat(path);
    if (!stat) return undefined;
    const before = programs.get(path);
    if (stat.type === 'File' && before?.revision === stat.revision) return before;
    return { revision: stat.revision, digest: await host.files.digest(path) };
  }
}

function programsOf(files: readonly ConfigFile[], host: Pick<Host, 'directory'>): readonly string[] {
  const paths = loadDetectorConfig(files).monitors.flatMap((monitor) =>
    monitor.kind === 'Plugin' ? monitor.rules.map(({ path }) => pathInHost(host, path)) : [],
  );
  return [...new Set(paths)].toSorted();
}

/** In a sandbox, paths begin with its directory, which is another one for each machine. */
function contentIn({ content }: ConfigFile, { directory }: Pick<Host, 'directory'>): string {
  return directory === '/' ? content : content.replaceAll(`${directory}/`, '/');
}
