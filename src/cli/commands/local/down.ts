import { Command } from 'commander';
import { findFleetFolder, stopLocalFleet } from '../../../local/fleet.ts';
import { createLayout } from '../../../local/layout.ts';
import { stopPrometheus } from '../../../local/prometheus.ts';
import { stopPlanesOfFleet } from '../../hosting/stop-planes.ts';
import type { Io } from '../../io.ts';
import { addDirOption } from '../../local/dir-option.ts';
import { withLocalErrors } from '../../local/errors.ts';
import {
  findFleetUsers,
  formatUsers,
  requireNoControllers,
  requireNoPrograms,
} from '../../local/fleet-programs.ts';
import { endMachines } from '../../local/machines-folder.ts';
import { printWarnings } from '../../output.ts';
import { withProgress } from '../../progress.ts';

export function createDownCommand(io: Io): Command {
  return addDirOption(io, new Command('down'))
    .description('stop the clusters; `up` starts them again with their data')
    .option('--wipe', 'also delete data, keys and logs')
    .action((flags: { dir: string; wipe?: true }) => withLocalErrors(() => down(io, flags)));
}

async function down(io: Io, flags: { readonly dir: string; readonly wipe?: true }): Promise<void> {
  const wipe = flags.wipe === true;
  const layout = await findFleetFolder(flags.dir);
  await requireNoPrograms(layout ?? createLayout(flags.dir));
  if (layout) requireNoControllers(await findFleetUsers(layout), layout.root);
  await stopPrometheus(flags.dir, io.clock);
  await stopPlanesOfFleet(flags.dir, { clock: io.clock, wipe });
  await endMachines(flags.dir, io.clock);
  const found = await withProgress(io, (progress) =>
    stopLocalFleet({
      dir: flags.dir,
      clock: io.clock,
      signal: io.signal,
      onStep: (step) => progress.step(step),
      wipe,
    }),
  );
  if (!found) io.err(`no local clusters in ${flags.dir}\n`);
  else io.err(wipe ? `stopped and deleted: ${flags.dir}\n` : `stopped; the data is kept in ${flags.dir}\n`);
  if (layout) await warnOfUsers(io, layout.root);
}

/** Their clusters are stopped: they only report errors, and work again after `up`. */
async function warnOfUsers(io: Io, root: string): Promise<void> {
  const users = await findFleetUsers({ root });
  if (users.length === 0) return;
  printWarnings(io, [
    `still running without a cluster: ${formatUsers(users)}. To end them: kill ${users.map(({ pid }) => pid).join(' ')}`,
  ]);
}
