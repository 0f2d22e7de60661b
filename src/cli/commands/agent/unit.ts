import type { Command } from 'commander';
import { type AgentUnitOptions, formatAgentUnit } from '../../../agent/install/own-unit.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Io } from '../../io.ts';
import { runtimeOf } from './option.ts';
import { createDefinedCommand } from './options.ts';

export function createAgentUnitCommand(io: Io): Command {
  return createDefinedCommand('unit').action(({ node, ...flags }: AgentUnitOptions) =>
    io.out(formatAgentUnit({ ...flags, ...optional('node', runtimeOf(node)) })),
  );
}
