/** `kubenode component add` and `update`: a new release of a component in the TypeScript of a fleet repository. */
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { COMPONENT_NAME, COMPONENT_VERSION, type Pattern } from '../../../api/patterns.ts';
import { withProxy } from '../../../os/net/http.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat } from '../../output.ts';
import { withProgress } from '../../progress.ts';
import { findInCatalog } from './catalog/catalog.ts';
import { RELEASE_ARCHITECTURES, type ReleaseArch } from './catalog/template.ts';
import { type ChangeReport, printChange } from './change-report.ts';
import { downloadReleaseFiles, type ReleaseFile } from './download/release-files.ts';
import { declarationsIn, type ReleasesDeclaration } from './source/declarations.ts';
import { editSources } from './source/edit.ts';
import { type EditRefusal, type FoundComponent, findComponent } from './source/find.ts';
import { type ReleaseSource, releaseSourceOf } from './source/release-source.ts';
import { type FleetFolder, openFleetFolder } from './source/repository.ts';

const HELP = `
Downloads the files of the release for each architecture of the component, computes size and sha256, compares them with the checksum file
of the publisher, and edits the repository: one new entry in componentReleases({ … }), and no other line. Prints the diff on stdout, and what
was compared with what on stderr. Nothing of the files is kept, and nothing is committed.

The URL is that of the entry or of the declaration; a component that is not declared yet is known for: cni-plugins, containerd, crictl,
kubelet, node-exporter, node-problem-detector, runc. Signatures are not checked: stderr names those of kubelet (cosign) and runc (OpenPGP). A
version that is declared already is downloaded and compared: a file that its publisher replaced is an error.`;

const ADD_HELP = `${HELP}

Examples:
  kubenode component add kubelet 1.36.4 --dry-run
  kubenode component add web 2.0.0 --url 'https://example.com/web/{version}/{arch}' --checksum-url '{url}.sha256'`;

const UPDATE_HELP = `${HELP}
The second line that changes is that of the component in "const versions = { … }".

Examples:
  kubenode component update kubelet 1.36.4
  kubenode component update containerd 2.3.4 --arch amd64 --repo ../my-fleet`;

interface ChangeFlags {
  readonly url?: string;
  readonly checksumUrl?: string;
  readonly arch?: readonly ReleaseArch[];
  readonly repo: string;
  readonly dryRun?: true;
  readonly force?: true;
  readonly output: OutputFormat;
}

export function createComponentAddCommand(io: Io): Command {
  return createChangeCommand(io, 'add', false)
    .description('add a release of a component to a fleet repository, for machines to select later')
    .addHelpText('after', ADD_HELP);
}

export function createComponentUpdateCommand(io: Io): Command {
  return createChangeCommand(io, 'update', true)
    .description('add a release of a component to a fleet repository, and select it')
    .addHelpText('after', UPDATE_HELP);
}

function createChangeCommand(io: Io, name: string, select: boolean): Command {
  return new Command(name)
    .argument('<component>', 'name of the component')
    .argument('<version>', 'version, as its publisher writes it, without "v"')
    .option('--url <template>', 'URL of the files; {version} and {arch} are replaced')
    .option('--checksum-url <template>', 'URL of the checksum file; {url} is that of the file')
    .addOption(
      new Option('--arch <names...>', 'architectures (default: those of the other versions)').choices(
        RELEASE_ARCHITECTURES,
      ),
    )
    .option('--repo <dir>', 'folder of the fleet repository', '.')
    .option('--dry-run', 'print the diff, change nothing')
    .option('--force', 'also edit a file with changes that are not committed')
    .addOption(createOutputOption())
    .action(async (component: string, version: string, flags: ChangeFlags) => {
      checkPattern('component', component, COMPONENT_NAME);
      checkPattern('version', version, COMPONENT_VERSION);
      const fleet = await openFleetFolder(resolve(io.cwd, flags.repo), io.signal);
      const report = await change(io, fleet, { component, version, select, flags });
      printChange(io, flags.output, report);
      if (report.refused) throw refusalError(report.refused);
    });
}

function checkPattern(what: string, text: string, { regex, description }: Pattern): void {
  const isTag = what === 'version' && /^v\d/.test(text);
  if (!isTag && new RegExp(regex).test(text)) return;
  throw new CliError(`expected ${description}, got ${JSON.stringify(text)}`, {
    where: what,
    ...(isTag && { hint: `leave the "v" out: ${text.slice(1)}` }),
    ...(text.includes('+') && { hint: buildHint(text) }),
    exitCode: EXIT.badInput,
  });
}

/** Names of objects, into which a version goes, have no "+". */
function buildHint(text: string): string {
  return `write "-" for "+": ${text.replaceAll('+', '-')}, and name its URL with --url, in which "+" is %2B`;
}

interface ChangeRequest {
  readonly component: string;
  readonly version: string;
  readonly select: boolean;
  readonly flags: ChangeFlags;
}

async function change(io: Io, fleet: FleetFolder, request: ChangeRequest): Promise<ChangeReport> {
  const { component, version, select, flags } = request;
  const declarations = declarationsIn(fleet.sources);
  const { found, refused } = findComponent(declarations, component);
  const source = sourceFor(request, declarations.releases);
  if (found && !flags.force) await refuseDirty(fleet, found, select);
  const files = await download(io, request, source);
  const digests = { ...(source.ownUrl && { url: source.ownUrl }), ...digestsOf(files) };
  const base = { component, version, files, digests, source, isDryRun: flags.dryRun === true };
  if (refused) return { ...base, edits: [], diff: '', refused };
  const edited = editSources(fleet.sources, found, { version, digests, select });
  if (!flags.dryRun) await fleet.write(edited.changed);
  return { ...base, ...edited };
}

function sourceFor(
  { component, version, flags }: ChangeRequest,
  releases: readonly ReleasesDeclaration[],
): ReleaseSource {
  const { source, problem } = releaseSourceOf({
    component,
    version,
    declaration: releases.find((each) => each.component === component),
    catalog: findInCatalog(component),
    url: flags.url,
    checksums: flags.checksumUrl,
    architectures: flags.arch,
  });
  if (source) return source;
  throw new CliError(problem, { where: component, exitCode: EXIT.badInput });
}

async function refuseDirty(
  fleet: FleetFolder,
  { declaration, selection }: FoundComponent,
  select: boolean,
): Promise<void> {
  const paths = [declaration.source.path, ...(select && selection ? [selection.source.path] : [])];
  const [dirty] = await fleet.dirty([...new Set(paths)]);
  if (dirty === undefined) return;
  throw new CliError(`${dirty} has changes that are not committed`, {
    where: fleet.folder,
    hint: 'commit them first, so that the diff has this release only; --force edits the file as it is',
    exitCode: EXIT.badInput,
  });
}

async function download(
  io: Io,
  { component, version }: ChangeRequest,
  source: ReleaseSource,
): Promise<readonly ReleaseFile[]> {
  const { env, clock, signal } = io;
  return await withProxy(env, () =>
    withProgress(io, (progress) => {
      const onStep = (step: string): void => progress.step(step);
      return downloadReleaseFiles({ component, version, ...source }, { env, clock, signal, onStep });
    }),
  );
}

function digestsOf(files: readonly ReleaseFile[]): Readonly<Partial<Record<ReleaseArch, string>>> {
  return Object.fromEntries(files.map(({ arch, sha256 }) => [arch, sha256]));
}

function refusalError({ because, where, hint, isDigestChanged }: EditRefusal): CliError {
  return new CliError(`nothing was changed: ${because}`, {
    ...(where !== undefined && { where }),
    hint,
    exitCode: isDigestChanged ? EXIT.failed : EXIT.badInput,
  });
}
