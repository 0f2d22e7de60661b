/** `kubenode component outdated`: newer versions of the components of a fleet repository. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { withProxy } from '../../../os/net/http.ts';
import type { ExitCode } from '../../errors.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { withProgress } from '../../progress.ts';
import { findInCatalog } from './catalog/catalog.ts';
import { readVersionIndex } from './catalog/read-index.ts';
import { declarationsIn } from './source/declarations.ts';
import { openFleetFolder } from './source/repository.ts';
import { type ComponentAge, componentAge, selectedVersions } from './versions-age.ts';

const HELP = `
Asks the publisher of each component that "const versions = { … }" of the repository selects, and prints the newest patch, minor and major
version after the selected one. Pre-releases are left out. STATE is Current, Outdated, Unknown (the publisher did not answer as expected, never
"current"), or NotTracked: its publisher is not known, as that of your own components. The selected version may be behind one that is declared.

Exit codes: 0 all tracked components are current, 2 there are newer versions, 69 at least one is unknown.

Examples:
  kubenode component outdated
  kubenode component outdated kubelet -o json`;

export function createComponentOutdatedCommand(io: Io): Command {
  return new Command('outdated')
    .description('list components of a fleet repository whose publisher has newer versions')
    .argument('[component]', 'only this component')
    .option('--repo <dir>', 'folder of the fleet repository', '.')
    .addOption(createOutputOption())
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, flags: { repo: string; output: OutputFormat }) => {
      const fleet = await openFleetFolder(resolve(io.cwd, flags.repo), io.signal);
      const selected = selectedVersions(declarationsIn(fleet.sources), name);
      const ages = await withProxy(io.env, () => readAges(io, selected));
      printResult(io, flags.output, { components: ages }, () => ({
        columns: ['component', 'selected', 'state', 'patch', 'minor', 'major', 'note'],
        rows: ages.map(({ component, version, state, newer = {}, because = '' }) => [
          component,
          version,
          state,
          newer.patch ?? '-',
          newer.minor ?? '-',
          newer.major ?? '-',
          because,
        ]),
      }));
      setExitCode(io, exitCodeFor(ages));
    });
}

async function readAges(io: Io, selected: ReadonlyMap<string, string>): Promise<readonly ComponentAge[]> {
  const { env, clock, signal } = io;
  return await withProgress(io, (progress) => {
    progress.step(`reading the versions of ${selected.size} components`);
    return Promise.all(
      [...selected].map(async ([component, version]) => {
        const index = findInCatalog(component)?.index;
        const answer =
          index && (await readVersionIndex(index, version, { env, clock, signal, deadlineMs: DEADLINE_MS }));
        return componentAge(component, version, answer);
      }),
    );
  });
}

/** An index is a few hundred kilobytes at most. */
const DEADLINE_MS = 60_000;

function exitCodeFor(ages: readonly ComponentAge[]): ExitCode {
  if (ages.some(({ state }) => state === 'Unknown')) return EXIT.unavailable;
  return ages.some(({ state }) => state === 'Outdated') ? EXIT.changes : EXIT.ok;
}
