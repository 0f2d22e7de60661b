import type { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createDefinedCommand } from './options.ts';
import { type HostFlags, startWatchdog } from './start.ts';

export function createAgentWatchdogCommand(io: Io): Command {
  return createDefinedCommand('watchdog').action((flags: HostFlags) => startWatchdog(io, flags));
}
