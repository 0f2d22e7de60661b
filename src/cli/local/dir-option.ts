import type { Command } from 'commander';
import { stateFolder } from '../../local/folders.ts';
import type { Io } from '../io.ts';

/** Adds the option that selects the local fleet. */
export function addDirOption(io: Io, command: Command): Command {
  return command.option('--dir <folder>', 'folder of the local clusters', stateFolder(io.env));
}
