import type { Command } from 'commander';
import { type AgentUnitOptions, formatAgentUnit } from '../../../agent/install/own-unit.ts';
import type { Io } from '../../io.ts';
import { createDefinedCommand } from './options.ts';

export function createAgentUnitCommand(io: Io): Command {
  return createDefinedCommand('unit').action((flags: AgentUnitOptions) => io.out(formatAgentUnit(flags)));
}
