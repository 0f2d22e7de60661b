/** `kubenode mirror sync`: copies every artifact that a fleet needs to a folder or to a repository of a registry. */
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { DOWNLOADS_FILE } from '../../../agent/layout.ts';
import { cacheFolder } from '../../../local/folders.ts';
import { withLock } from '../../../os/lock.ts';
import { withProxy } from '../../../os/net/http.ts';
import { NO_CREDENTIALS, readCredentials } from '../../../os/oci/credentials.ts';
import { isOciUrl, parseOciUrl } from '../../../os/oci/reference.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { formatJson } from '../../../views/text/json.ts';
import type { Table } from '../../../views/text/table.ts';
import { addConnectionOptions } from '../../connection.ts';
import { CliError, EXIT, type ExitCode } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { withProgress } from '../../progress.ts';
import { copyToMirror, type MirroredEntry } from './copy.ts';
import { openMirrorFolder } from './folder.ts';
import { planMirror } from './plan.ts';
import { openMirrorRegistry } from './registry.ts';
import { type MirrorSourceFlags, readMirroredSpecs } from './source.ts';
import type { MirrorTarget } from './target.ts';

const HELP = `
Copies the artifacts of all MachineComponents that a fleet repository renders to, or that are in a cluster. TARGET is a folder, which any
server of static files can serve (also file:// on a host), or oci://REGISTRY/REPOSITORY. Each file is verified by its sha256 before it gets its
name, and is stored under it, so that hosts ask for content: nothing in git changes. Run it again after a change, or after an interruption: what
is there is verified and kept, a partial download is continued. Nothing is deleted.

Hosts use the mirror before the declared URLs when ${DOWNLOADS_FILE} names it (docs/guides/artifacts.md):
  {"mirrors": ["https://mirror.example.com/artifacts"]}

Exit codes: 0 the mirror has all artifacts, 1 an artifact has another checksum, 2 with --dry-run: some are missing, 69 a source or the registry
did not answer.

Examples:
  kubenode mirror sync /srv/artifacts
  kubenode mirror sync oci://registry.example.com/kubenode --registry-config ~/registries.json
  kubenode mirror sync /srv/artifacts --from cluster --context prod --dry-run`;

interface Flags extends MirrorSourceFlags {
  readonly registryConfig?: string;
  readonly dryRun?: true;
  readonly output: OutputFormat;
}

export function createMirrorSyncCommand(io: Io): Command {
  const command = new Command('sync')
    .description('copy all artifacts that a fleet needs to a folder or a registry')
    .argument('<target>', 'folder, or oci://REGISTRY/REPOSITORY')
    .addOption(
      new Option('--from <source>', 'what declares the artifacts')
        .choices(['repository', 'cluster'])
        .default('repository'),
    )
    .option('--repo <dir>', 'folder of the fleet repository', '.')
    .option('--path <folder>', 'folder of the fleet in the repository (spec.source.path)', '.')
    .option(
      '--registry-config <file>',
      'credentials of registries, as a config.json of Docker; only its owner may read it',
    )
    .option('--dry-run', 'print what is missing, and copy nothing')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (target: string, flags: Flags) => {
    const { entries, url } = await withProgress(io, async (progress) => {
      progress.step('reading the components');
      const planned = planMirror(await readMirroredSpecs(io, flags));
      const mirror = await openTarget(io, target, flags);
      const settings = {
        dryRun: flags.dryRun === true,
        registriesFile: registriesFile(io, flags),
        random: systemRandom,
        onStep: (text: string) => progress.step(text),
      };
      const lock = `kubenode mirror ${mirror.partialFolder}`;
      const waiting = (holder: string): void => progress.step(`waiting for ${holder}, which copies to it`);
      const copied = await withLock(lock, { waiting, signal: io.signal }, () =>
        withProxy(io.env, () => copyToMirror(io, planned, mirror, settings)),
      );
      return { entries: copied, url: mirror.url };
    });
    const mirrors = [url ?? 'URL of the folder'];
    const data = { target, artifacts: entries, ...(url !== undefined && { downloads: { mirrors } }) };
    printResult(io, flags.output, data, () => tableOf(entries));
    io.err(
      `Hosts use it when ${DOWNLOADS_FILE} has:\n  ${formatJson({ mirrors }).replaceAll(/\s*\n\s*/g, '')}\n`,
    );
    setExitCode(io, exitCodeFor(entries));
  });
}

function registriesFile(io: Io, { registryConfig }: Flags): string | undefined {
  return registryConfig === undefined ? undefined : resolve(io.cwd, registryConfig);
}

async function openTarget(io: Io, target: string, flags: Flags): Promise<MirrorTarget> {
  if (!isOciUrl(target)) return await openMirrorFolder(resolve(io.cwd, target));
  const reference = parseOciUrl(target);
  if (!reference || target !== `oci://${reference.registry}/${reference.repository}`) {
    throw new CliError(`expected oci://REGISTRY/REPOSITORY, got ${target}`, {
      where: 'target',
      hint: 'name a repository without tag and digest',
      exitCode: EXIT.usage,
    });
  }
  const file = registriesFile(io, flags);
  const credentials = file === undefined ? NO_CREDENTIALS : await readCredentials(file);
  const { clock, signal } = io;
  return await openMirrorRegistry(reference, `${cacheFolder(io.env)}/mirror`, { clock, signal, credentials });
}

function tableOf(entries: readonly MirroredEntry[]): Table {
  return {
    columns: ['component', 'platform', 'sha256', 'state', 'note'],
    rows: entries.map(({ usedBy, platform: { os, arch }, sha256, state, because }) => [
      usedBy.join(', '),
      `${os}/${arch}`,
      sha256.slice(0, 12),
      state,
      because ?? '',
    ]),
    empty: 'no artifacts declared',
  };
}

function exitCodeFor(entries: readonly MirroredEntry[]): ExitCode {
  const failed = entries.filter(({ state }) => state === 'Failed');
  if (failed.some(({ code }) => code === 'Checksum' || code === 'TooLarge')) return EXIT.failed;
  if (failed.length > 0) return EXIT.unavailable;
  return entries.some(({ state }) => state === 'Missing') ? EXIT.changes : EXIT.ok;
}
