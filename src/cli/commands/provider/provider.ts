import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createProviderCheckCommand } from './check.ts';

export function createProviderCommand(io: Io): Command {
  return new Command('provider')
    .description('check the credentials and rights of a cloud')
    .addCommand(createProviderCheckCommand(io));
}
