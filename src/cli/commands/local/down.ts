import { Command } from 'commander';
import { stopLocalFleet } from '../../../local/fleet.ts';
import { createLayout } from '../../../local/layout.ts';
import type { Io } from '../../io.ts';
import { withProgress } from '../../progress.ts';
import { addDirOption } from './dir-option.ts';
import { withLocalErrors } from './errors.ts';
import { requireNoPrograms } from './fleet-programs.ts';
import { endMachines } from './machines-folder.ts';

export function createDownCommand(io: Io): Command {
  return addDirOption(io, new Command('down'))
    .description('stop the clusters; `up` starts them again with their data')
    .option('--wipe', 'also delete data, keys and logs')
    .action((flags: { dir: string; wipe?: true }) => withLocalErrors(() => down(io, flags)));
}

async function down(io: Io, flags: { readonly dir: string; readonly wipe?: true }): Promise<void> {
  const wipe = flags.wipe === true;
  await requireNoPrograms(createLayout(flags.dir));
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
}
