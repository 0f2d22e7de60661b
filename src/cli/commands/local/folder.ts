/** Which local fleet is meant. */
import type { Command } from 'commander';
import { stateFolder } from '../../../local/folders.ts';
import type { Io } from '../../io.ts';

export function withDir(io: Io, command: Command): Command {
  return command.option('--dir <folder>', 'folder of the clusters', stateFolder(io.env));
}
