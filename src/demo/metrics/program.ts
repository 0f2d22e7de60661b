/** Finds the program of Prometheus, and refuses one that is too old. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CliError, EXIT } from '../../cli/errors.ts';
import type { Io } from '../../cli/io.ts';

const INSTALL = 'install it (Debian and Ubuntu: apt install prometheus), or pass its path with --prometheus';
const VERSION_TIMEOUT_MS = 10_000;
/** The first version whose limit of the size of its data includes the log in front of the blocks. */
const OLDEST = { major: 2, minor: 15 };

export interface MetricsFlags {
  readonly metrics?: true;
  /** The path of the program. */
  readonly prometheus?: string;
}

/** Returns the path of the program, before anything is started; undefined without --metrics. */
export async function requestedPrometheus(
  io: Pick<Io, 'env' | 'cwd'>,
  { metrics, prometheus }: MetricsFlags,
): Promise<string | undefined> {
  if (metrics) return await findPrometheusProgram(io, prometheus);
  if (prometheus === undefined) return undefined;
  throw new CliError('--prometheus needs --metrics', { exitCode: EXIT.usage });
}

/** Returns the path of the program that was named, or of the first on the PATH. */
export async function findPrometheusProgram(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  named: string | undefined,
): Promise<string> {
  const folders = (env['PATH'] ?? '').split(':').filter((folder) => folder !== '');
  const paths =
    named === undefined ? folders.map((folder) => join(folder, 'prometheus')) : [resolve(cwd, named)];
  for (const path of paths) if (await isExecutable(path)) return await requireVersion(path);
  throw new CliError(
    named === undefined ? 'prometheus is not installed: not found on the PATH' : `not a program: ${paths[0]}`,
    {
      where: '--metrics',
      hint: `${INSTALL}; without --metrics everything else works`,
      exitCode: EXIT.unavailable,
    },
  );
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function requireVersion(path: string): Promise<string> {
  const reason = versionReason(await printedVersion(path));
  if (reason === undefined) return path;
  throw new CliError(`this Prometheus cannot be used: ${reason}`, {
    where: path,
    hint: INSTALL,
    exitCode: EXIT.unavailable,
  });
}

/** Returns why a program that prints this for `--version` cannot be used; undefined if it can. */
export function versionReason(printed: string): string | undefined {
  const found = /^prometheus, version (?<major>\d+)\.(?<minor>\d+)/m.exec(printed)?.groups;
  const expected = `expected Prometheus ${OLDEST.major}.${OLDEST.minor} or newer`;
  if (!found) return `${expected}, and its --version prints ${JSON.stringify(printed.slice(0, 80))}`;
  const [major, minor] = [Number(found['major']), Number(found['minor'])];
  const isNew = major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor);
  return isNew ? undefined : `${expected}, found ${major}.${minor}`;
}

/** Older versions print it to stderr. */
async function printedVersion(path: string): Promise<string> {
  return await new Promise((settle) => {
    execFile(path, ['--version'], { timeout: VERSION_TIMEOUT_MS }, (error, stdout, stderr) =>
      settle(error === null ? `${stdout}${stderr}` : error.message),
    );
  });
}
