import { Command } from 'commander';
import { findFleetFolder, stopLocalFleet } from '../../../local/fleet.ts';
import { readState } from '../../../local/state.ts';
import { endLocalMachines } from '../../../providers/local/end.ts';
import type { Io } from '../../io.ts';
import { withProgress } from '../../progress.ts';
import { addDirOption } from './dir-option.ts';
import { withLocalErrors } from './errors.ts';
import { machinesFolder } from './machines-folder.ts';

export function createDownCommand(io: Io): Command {
  return addDirOption(io, new Command('down'))
    .description('stop the clusters; `up` starts them again with their data')
    .option('--wipe', 'also delete data, keys and logs')
    .action((flags: { dir: string; wipe?: true }) => withLocalErrors(() => down(io, flags)));
}

/** Machines of provider local: without their API server they are of no use, and the folders of `--wipe` are theirs. */
async function endMachines(io: Io, dir: string): Promise<void> {
  const layout = await findFleetFolder(dir);
  const state = layout && (await readState(layout.stateFile).catch(() => undefined));
  for (const { name } of state?.clusters ?? []) {
    await endLocalMachines(machinesFolder(layout?.root ?? dir, name), io.clock);
  }
}

async function down(io: Io, flags: { readonly dir: string; readonly wipe?: true }): Promise<void> {
  const wipe = flags.wipe === true;
  await endMachines(io, flags.dir);
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
}
