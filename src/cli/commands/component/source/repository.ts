/** Reads and writes the TypeScript of a fleet repository. */
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../../os/errors.ts';
import { gitEnvironment, runGit } from '../../../../sync/git/command/process.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { FleetFile } from './declarations.ts';
import { replaceFiles } from './replace.ts';

export interface FleetFolder {
  readonly folder: string;
  readonly sources: readonly FleetFile[];
  /** Those of the paths that differ from the last commit. */
  dirty(paths: readonly string[]): Promise<readonly string[]>;
  /** Writes all files or none. Rejects if one of them is not the one that was read. */
  write(files: readonly FleetFile[]): Promise<void>;
}

/** The folder of the fleet program. A repository that is laid out otherwise is searched as a whole. */
const FLEET = 'fleet';
const TIMEOUT_MS = 30_000;

export async function openFleetFolder(folder: string, signal: AbortSignal): Promise<FleetFolder> {
  const git = async (...args: readonly string[]): Promise<string> => {
    const env = gitEnvironment(process.env['HOME'] ?? '/');
    const { code, stdout, stderr } = await runGit({
      args: ['--literal-pathspecs', '-C', folder, ...args],
      env,
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    if (code === 0) return stdout;
    throw new CliError(`git cannot read the fleet repository: ${stderr.trim().split('\n')[0]}`, {
      where: folder,
      hint: 'name the folder of the fleet repository with --repo',
      exitCode: EXIT.badInput,
    });
  };
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const all = pathsIn(await git(...list)).filter((path) => /(?<!\.d)\.ts$/.test(path));
  const fleet = all.filter((path) => path.startsWith(`${FLEET}/`));
  const sources = await readSources(folder, fleet.length > 0 ? fleet : all);
  return {
    folder,
    sources,
    async dirty(paths) {
      const states = await Promise.all(
        paths.map((path) => git('status', '--porcelain', '--untracked-files=all', '--', path)),
      );
      return paths.filter((_, index) => states[index] !== '');
    },
    async write(files) {
      const before = new Map(sources.map(({ path, text }) => [path, text]));
      await replaceFiles(
        files.map(({ path, text }) => ({ path: join(folder, path), before: before.get(path) ?? '', text })),
      );
    },
  };
}

function pathsIn(output: string): readonly string[] {
  return output.split('\0').filter((path) => path !== '');
}

/** Without symbolic links, and without files that were deleted and not committed. */
async function readSources(folder: string, paths: readonly string[]): Promise<readonly FleetFile[]> {
  const sources = await Promise.all(
    paths.map(async (path) => {
      try {
        const isFile = (await lstat(join(folder, path))).isFile();
        return isFile ? [{ path, text: await readFile(join(folder, path), 'utf8') }] : [];
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return [];
        throw error;
      }
    }),
  );
  return sources.flat();
}
