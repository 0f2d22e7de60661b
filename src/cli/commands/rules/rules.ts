import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createRulesExplainCommand } from './explain.ts';
import { createRulesLintCommand, createRulesTestCommand } from './run.ts';

export function createRulesCommand(io: Io): Command {
  return new Command('rules')
    .description('compile, test and explain self-healing rules')
    .addCommand(createRulesTestCommand(io))
    .addCommand(createRulesLintCommand(io))
    .addCommand(createRulesExplainCommand(io));
}
