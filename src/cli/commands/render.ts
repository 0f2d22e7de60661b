import { resolve } from 'node:path';
import { Command } from 'commander';
import { openWorkingTree } from '../../sync/git/working-tree.ts';
import { createRenderer } from '../../sync/render/renderer.ts';
import { HUB_TARGET, type RenderedTarget } from '../../sync/rendered.ts';
import { type Table } from '../../views/text/table.ts';
import { formatYaml } from '../../views/text/yaml.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { createOutputOption, type OutputFormat, printResult, printWarnings } from '../output.ts';

interface Flags {
  readonly commit?: string;
  readonly path: string;
  readonly target?: string;
  readonly objects?: true;
  readonly output: OutputFormat;
}

const HELP = `
Renders as sync does: in a sandbox that can read only a copy of the repository, with the cdk8s of this kubenode. The copy of a
working tree has the files that git tracks or does not ignore; symbolic links and submodules are skipped, with a warning. A
commit is rendered twice, and both results must be equal. The table counts the objects of each unit; --objects lists them; JSON and YAML
contain them in full. With -o yaml and --target only the objects are printed, ready for kubectl.

Examples:
  kubenode render .
  kubenode render --commit HEAD~1 -o json
  kubenode render . --target test -o yaml | kubectl diff -f -`;

export function createRenderCommand(io: Io): Command {
  return new Command('render')
    .description('print the objects that a fleet repository renders to, per cluster and unit')
    .argument('[dir]', 'folder of the repository', '.')
    .option('--commit <revision>', 'commit, branch or tag to render instead of the working tree')
    .option('--path <folder>', 'folder of the fleet in the repository (spec.source.path)', '.')
    .option('--target <name>', 'only this cluster (or hub)')
    .option('--objects', 'list the objects, with the file and line that declare them')
    .addOption(createOutputOption())
    .addHelpText('after', HELP)
    .action(async (dir: string, flags: Flags) => {
      const { targets, warnings } = await render(io, resolve(io.cwd, dir), flags);
      printWarnings(io, warnings);
      show(io, selectTargets(targets, flags), flags);
    });
}

async function render(
  io: Io,
  folder: string,
  { commit, path }: Flags,
): Promise<{ targets: readonly RenderedTarget[]; warnings: readonly string[] }> {
  const { signal } = io;
  if (commit === undefined) return createRenderer().folder({ folder, path, signal });
  const git = await openWorkingTree(folder);
  const { rendered, warnings } = await createRenderer().commit({
    git,
    commit: await git.resolve(commit),
    path,
    signal,
  });
  return { targets: rendered.targets, warnings };
}

function selectTargets(targets: readonly RenderedTarget[], { target }: Flags): readonly RenderedTarget[] {
  if (target === undefined) return targets;
  const found = targets.filter((one) => one.target === target);
  if (found.length > 0) return found;
  throw new CliError(`target ${target} not found in the rendered fleet`, {
    where: '--target',
    hint:
      targets.length > 0
        ? `use one of: ${targets.map((one) => one.target).join(', ')}`
        : `declare objects for the ${HUB_TARGET} or a cluster first`,
    exitCode: EXIT.badInput,
  });
}

function show(io: Io, targets: readonly RenderedTarget[], flags: Flags): void {
  if (flags.output === 'yaml' && flags.target !== undefined) {
    const objects = targets.flatMap(({ units }) => units.flatMap((unit) => unit.objects));
    for (const { object } of objects) io.out(`---\n${formatYaml(object)}`);
    return;
  }
  printResult(io, flags.output, { targets }, () =>
    flags.objects ? createObjectsTable(targets) : createUnitsTable(targets),
  );
}

const EMPTY = 'no objects declared';

function createUnitsTable(targets: readonly RenderedTarget[]): Table {
  return {
    columns: ['target', 'unit', 'objects', 'digest'],
    rows: targets.flatMap(({ target, units }) =>
      units.map(({ unit, objects, digest }) => [target, unit, `${objects.length}`, digest.slice(7, 19)]),
    ),
    empty: EMPTY,
  };
}

function createObjectsTable(targets: readonly RenderedTarget[]): Table {
  return {
    columns: ['target', 'unit', 'kind', 'namespace', 'name', 'declared at'],
    rows: targets.flatMap(({ target, units }) =>
      units.flatMap(({ unit, objects }) =>
        objects.map(({ object: { kind, metadata }, source }) => [
          target,
          unit,
          kind,
          metadata.namespace ?? '-',
          metadata.name,
          source.file ?? '-',
        ]),
      ),
    ),
    empty: EMPTY,
  };
}
